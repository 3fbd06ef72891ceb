// One request as raw bytes: a header twice, with underscores or empty, which no tidy HTTP client would send.

import { connect as connectTcp, isIP, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"

/** Milliseconds until a server that says nothing counts as out of reach. */
const PATIENCE = 30_000
const LONGEST_HEAD = 64 * 1024

export type Target =
  | {
      readonly kind: "tcp"
      /** The address itself, so that each family is asked on purpose. */
      readonly address: string
      readonly port: number
      /** The name in the certificate, or `null` for plain HTTP. */
      readonly tlsName: string | null
    }
  | { readonly kind: "unix"; readonly path: string }

export type Question = {
  readonly target: Target
  readonly host: string
  readonly path: string
  /** Header lines beside `Host`, as they go out. */
  readonly lines?: readonly string[]
  readonly signal?: AbortSignal
}

export type Answer = {
  readonly status: number
  /** With names in lower case; the first of several. */
  readonly headers: ReadonlyMap<string, string>
  /** The address that the connection came from, as this machine sees it; `null` over a unix socket. */
  readonly from: string | null
}

/** Rejects with the reason if no answer comes. The body is not read. */
export function ask({ target, host, path, lines = [], signal }: Question): Promise<Answer> {
  const connection = lines.some((line) => /^connection:/i.test(line)) ? [] : ["Connection: close"]
  const head = [
    `GET ${path} HTTP/1.1`,
    `Host: ${host}`,
    "User-Agent: ipgate-doctor",
    "Accept: */*",
    ...connection,
    ...lines,
  ]
  return new Promise((resolve, reject) => {
    const socket = open(target)
    let received = ""
    let from: string | null = null
    let timer: ReturnType<typeof setTimeout>
    const settle = (finish: () => void) => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", abort)
      socket.destroy()
      finish()
    }
    const fail = (error: Error) => settle(() => reject(error))
    const abort = () => fail(new Error("interrupted"))
    timer = setTimeout(() => fail(new Error(`no answer in ${PATIENCE / 1000} s`)), PATIENCE)
    if (signal?.aborted) return abort()
    signal?.addEventListener("abort", abort)
    socket.on(target.kind === "tcp" && target.tlsName !== null ? "secureConnect" : "connect", () => {
      from = socket.localAddress ?? null
      socket.write(`${head.join("\r\n")}\r\n\r\n`)
    })
    socket.on("data", (bytes: Buffer) => {
      received += bytes.toString("latin1")
      const answer = answerIn(received)
      if (answer !== null) settle(() => resolve({ ...answer, from }))
      else if (received.length > LONGEST_HEAD) fail(new Error("the answer is no HTTP"))
    })
    socket.on("error", fail)
    socket.on("close", () => fail(new Error("the connection was closed without an answer")))
  })
}

function open(target: Target): Socket {
  if (target.kind === "unix") return connectTcp({ path: target.path })
  const { address: host, port, tlsName } = target
  if (tlsName === null) return connectTcp({ host, port })
  // A certificate for an address is checked against that: SNI knows names only.
  return connectTls({ host, port, ...(isIP(tlsName) ? {} : { servername: tlsName }) })
}

/** The first final response in what has come, or `null` while its head is not complete. */
function answerIn(received: string): { status: number; headers: ReadonlyMap<string, string> } | null {
  let rest = received
  for (;;) {
    const end = rest.indexOf("\r\n\r\n")
    if (end === -1) return null
    const [first = "", ...lines] = rest.slice(0, end).split("\r\n")
    const status = Number(/^HTTP\/1\.[01] ([1-5][0-9]{2})/.exec(first)?.[1] ?? 0)
    rest = rest.slice(end + 4)
    if (status >= 100 && status < 200) continue
    const headers = new Map<string, string>()
    for (const line of lines) {
      const name = line.slice(0, line.indexOf(":")).toLowerCase()
      if (!headers.has(name)) headers.set(name, line.slice(name.length + 1).trim())
    }
    return { status, headers }
  }
}
