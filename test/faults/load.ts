// Load for a server without a program for it: pipelined requests over connections that are kept, every answer looked at.

import { connect } from "node:net"
import type { ListenAddress } from "../../src/listen-address.ts"

export type LoadOptions = {
  readonly requests: number
  readonly connections: number
  /** The text of request `i`, and the status line that is its right answer. Answers must have no body but of `length`. */
  readonly request: (i: number) => string
  readonly status: (i: number) => number
  /** Requests that go out on a connection before their answers come; Bun closes it if an answer of several is late. */
  readonly atOnce: number
}

/** Sends them all, and gives the number of answers that were not right. */
export async function load(
  to: ListenAddress,
  { requests, connections, request, status, atOnce }: LoadOptions,
): Promise<number> {
  if (to.kind !== "tcp") throw new Error("load goes over TCP")
  let next = 0
  let wrong = 0
  const run = () =>
    new Promise<void>((resolve, reject) => {
      let due: number[] = []
      let text = ""
      const socket = connect({ host: to.hostname, port: to.port }, () => send())
      const send = () => {
        due = []
        let batch = ""
        for (; due.length < atOnce && next < requests; next++) {
          due.push(status(next))
          batch += request(next)
        }
        if (due.length === 0) {
          socket.end()
          resolve()
        } else socket.write(batch)
      }
      socket.on("data", (bytes) => {
        text += bytes.toString("latin1")
        const answers = text.match(/HTTP\/1\.1 [0-9]{3} /g) ?? []
        // The last one may not be whole yet; its head ends the text, or its body of a known end does.
        if (answers.length < due.length || !/(\r\n\r\n|\n)$/.test(text)) return
        if (answers.length > due.length) wrong++
        for (const [i, wanted] of due.entries()) if (Number(answers[i]?.slice(9, 12)) !== wanted) wrong++
        text = ""
        send()
      })
      socket.on("error", reject)
      socket.on("close", () =>
        due.length > 0 ? reject(new Error("the server closed a connection")) : resolve(),
      )
    })
  await Promise.all(Array.from({ length: connections }, run))
  return wrong
}
