// A visitor of a site behind a proxy: raw requests from an address of its choice, with the patience for a slow refusal.

import { connect } from "node:net"

/** Milliseconds. Longer than any proxy waits for a gate that is away. */
const PATIENCE = 40_000

export type Place = { readonly host: string; readonly port: number }

export type Visit = {
  readonly method?: string
  readonly path?: string
  /** Header lines as they go out. */
  readonly headers?: readonly string[]
  readonly body?: string
  /** The address of the visitor. */
  readonly from?: string
}

export type Answer = { readonly status: number; readonly head: string; readonly body: string }

/** One request on a connection of its own. */
export function visit({ host, port }: Place, options: Visit = {}): Promise<Answer> {
  const { method = "GET", path = "/page", headers = [], body = "", from } = options
  const length = body === "" ? [] : [`Content-Length: ${body.length}`]
  const lines = [
    `${method} ${path} HTTP/1.1`,
    "Host: example.org",
    "Connection: close",
    ...length,
    ...headers,
  ]
  return new Promise((resolve, reject) => {
    let received = ""
    const socket = connect({ host, port, ...(from === undefined ? {} : { localAddress: from }) })
    const timer = setTimeout(() => socket.destroy(new Error("no answer for too long")), PATIENCE)
    const end = (error?: Error) => {
      clearTimeout(timer)
      const status = /^HTTP\/1\.[01] ([1-5][0-9]{2})/.exec(received)?.[1]
      if (status === undefined) {
        reject(error ?? new Error(`the connection ended after ${JSON.stringify(received)}`))
        return
      }
      const at = received.indexOf("\r\n\r\n") + 4
      resolve({ status: Number(status), head: received.slice(0, at), body: received.slice(at) })
    }
    socket.on("connect", () => socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`))
    socket.on("data", (bytes) => {
      received += bytes.toString("latin1")
    })
    socket.on("error", end)
    socket.on("close", () => end())
  })
}

/** A message to the site and back, over a WebSocket. */
export function echoed({ host, port }: Place, message: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://${host.includes(":") ? `[${host}]` : host}:${port}/socket`)
    socket.onopen = () => socket.send(message)
    socket.onmessage = ({ data }) => {
      resolve(String(data))
      socket.close()
    }
    socket.onerror = () => reject(new Error("no WebSocket"))
  })
}

/** The lines with which a visitor asks for a WebSocket. */
export const UPGRADE: readonly string[] = [
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
]
