// One hostile request on a connection of its own: what comes back, and whether anything came that nobody asked for.

import { connect } from "node:net"
import type { ListenAddress } from "../../src/listen-address.ts"

/** Milliseconds until an exchange is given up; the server answers what is complete at once. */
const DEADLINE = 10_000
/** Milliseconds in which a second answer to a request that has its first would have come. */
const GRACE = 250

export type Exchange = {
  /** Of every final response, in order. */
  readonly statuses: readonly number[]
  readonly closed: boolean
  readonly text: string
}

/**
 * Sends bytes, waits for the first final response or the end of the connection, then sends a question that is never
 * anything but 404, and waits for its answer, the end, or a moment. A body that the server took for a request would
 * have its answer in between.
 */
export function exchange(
  to: ListenAddress & { kind: "tcp" },
  data: Uint8Array,
  probe: boolean,
): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    let text = ""
    let asked = false
    const socket = connect({ host: to.hostname, port: to.port }, () => socket.write(data))
    const finish = (closed: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ statuses: statusesIn(text), closed, text })
    }
    let timer = setTimeout(() => {
      socket.destroy()
      reject(new Error(`no answer to ${JSON.stringify(Buffer.from(data).toString("latin1").slice(0, 500))}`))
    }, DEADLINE)
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1")
      const statuses = statusesIn(text)
      if (statuses.length === 0) return
      if (!probe || (statuses.at(-1) === 404 && asked && statuses.length > 1)) return finish(false)
      if (asked) return
      asked = true
      clearTimeout(timer)
      timer = setTimeout(() => finish(false), GRACE)
      socket.write("GET /-/nothing HTTP/1.1\r\nHost: gate.test\r\nConnection: close\r\n\r\n")
    })
    socket.on("error", () => {})
    socket.on("close", () => finish(true))
  })
}

/** No body of an answer holds a status line: what an error repeats of a request is none. */
function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 ([2-5][0-9]{2}) [^\r\n]*\r\n/g)].map(([, status]) => Number(status))
}
