// A raw HTTP/1.1 client: bytes out, bytes in, so that nothing is tidied up on the way to the server or back.

import { connect, type Socket } from "node:net"
import { formatListenAddress, type ListenAddress } from "../../src/listen-address.ts"
import { compareAnswer, isWatched } from "../contract/watched.ts"

/** Milliseconds until a wait for bytes, or for the end of the connection, fails: nothing here takes that long. */
const LONGEST_SILENCE = 3_000

/** One response as it came. */
export type RawAnswer = {
  readonly status: number
  /** The status line and the header lines, each with its CRLF, and the empty line after them. */
  readonly head: string
  /** In order and as spelled by the server. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** Every byte of it as one character. */
  readonly body: string
}

/** One connection. Use it with `using`, so that it is closed whatever the test does. */
export class RawConnection {
  private received = ""
  private ended = false
  private wake: () => void = () => {}

  private constructor(private readonly socket: Socket) {
    socket.setNoDelay(true)
    socket.on("data", (bytes) => {
      this.received += bytes.toString("latin1")
      this.wake()
    })
    const end = () => {
      this.ended = true
      this.wake()
    }
    socket.on("close", end)
    socket.on("error", end)
  }

  /** `localAddress` is the address that the server sees as its peer. */
  static async open(to: ListenAddress, { localAddress }: { localAddress?: string } = {}) {
    const socket =
      to.kind === "unix"
        ? connect({ path: to.path })
        : connect({
            host: to.hostname,
            port: to.port,
            ...(localAddress === undefined ? {} : { localAddress }),
          })
    const connection = new RawConnection(socket)
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", () => resolve())
      socket.once("error", reject)
    })
    return connection
  }

  /** Text goes out as UTF-8. */
  send(data: string | Uint8Array): void {
    this.socket.write(data)
  }

  /** The next response; interim ones (100) come as answers of their own. Rejects if the connection ends before. */
  async answer(toMethod = "GET"): Promise<RawAnswer> {
    for (;;) {
      const cut = cutAnswer(this.received, toMethod, this.ended)
      if (cut !== null) {
        this.received = this.received.slice(cut.length)
        return cut.answer
      }
      if (this.ended) throw new Error(`the connection ended after ${JSON.stringify(this.received)}`)
      await this.more()
    }
  }

  /** Sends one request and waits for its response. */
  ask(data: string | Uint8Array, method = "GET"): Promise<RawAnswer> {
    this.send(data)
    return this.answer(method)
  }

  /** Waits until the server closes, for all that it sent and nobody has read. */
  async rest(): Promise<string> {
    while (!this.ended) await this.more()
    return this.received
  }

  /** What has arrived and is not read. */
  get unread(): string {
    return this.received
  }

  close(): void {
    this.socket.destroy()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  private more(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.close()
        reject(new Error(`the server sends nothing and keeps open, after ${JSON.stringify(this.received)}`))
      }, LONGEST_SILENCE)
      this.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

/** The text of a request. The header lines stand as they are given, after `Host`. */
export function requestText(line: string, headers: readonly string[] = [], body = ""): string {
  return `${[`${line} HTTP/1.1`, "Host: gate.test", ...headers].join("\r\n")}\r\n\r\n${body}`
}

/** One request on a connection of its own. */
export async function ask(
  to: ListenAddress,
  data: string | Uint8Array,
  options: { localAddress?: string; method?: string } = {},
): Promise<RawAnswer> {
  using connection = await RawConnection.open(to, options)
  const answer = await connection.ask(data, options.method)
  const request = isWatched(formatListenAddress(to)) ? wellFormed(data) : null
  if (request !== null) {
    const headers = new Headers(answer.headers.map(([name, value]): [string, string] => [name, value]))
    await compareAnswer(request, { ...answer, headers })
  }
  return answer
}

/** A head that Bun takes has at most so many bytes, and so many fields. */
const LARGEST_HEAD = 16_000
const MOST_FIELDS = 200

/** A request as the grammar wants it (RFC 9112), or `null`: what Bun says to others is no answer of the API. */
function wellFormed(data: string | Uint8Array) {
  const [head = "", ...rest] = (typeof data === "string" ? data : new TextDecoder().decode(data)).split(
    "\r\n\r\n",
  )
  const [line = "", ...lines] = head.split("\r\n")
  const [, method, target] = /^([A-Z]+) (\/[!-~]*) HTTP\/1\.1$/.exec(line) ?? []
  if (method === undefined || target === undefined) return null
  if (head.length > LARGEST_HEAD || lines.length > MOST_FIELDS) return null
  const headers = new Headers()
  for (const text of lines) {
    const [, name, value] = /^([\w-]+):[ \t]*([\t -~]*)$/.exec(text) ?? []
    if (name === undefined || value === undefined) return null
    headers.append(name, value)
  }
  return { method, target, headers, body: headers.has("Transfer-Encoding") ? null : rest.join("\r\n\r\n") }
}

/** Everything that the server sends until it closes the connection by itself. */
export async function allBytes(to: ListenAddress, data: string | Uint8Array): Promise<string> {
  using connection = await RawConnection.open(to)
  connection.send(data)
  return await connection.rest()
}

/** The value of a header, or `null`; several are joined as a client would join them. */
export function headerOf(answer: RawAnswer, name: string): string | null {
  const values = answer.headers.filter(([key]) => key.toLowerCase() === name.toLowerCase())
  return values.length === 0 ? null : values.map(([, value]) => value).join(", ")
}

// RFC 9112, 6.3: where a body ends. `null` while more bytes are due.
function cutAnswer(received: string, toMethod: string, ended: boolean) {
  const headEnd = received.indexOf("\r\n\r\n")
  if (headEnd === -1) return null
  const head = received.slice(0, headEnd + 4)
  const [statusLine = "", ...lines] = head.slice(0, -4).split("\r\n")
  const status = Number(/^HTTP\/1\.1 ([1-5][0-9]{2}) /.exec(statusLine)?.[1])
  if (Number.isNaN(status)) throw new Error(`no status line: ${JSON.stringify(received)}`)
  const headers = lines.map((line) => {
    const colon = line.indexOf(":")
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const
  })
  const answer = { status, head, headers, body: "" }
  if (toMethod === "HEAD" || status < 200 || status === 204 || status === 304) {
    return { length: head.length, answer }
  }
  if (headerOf(answer, "Transfer-Encoding") !== null) return cutChunks(received, answer)
  const lengthText = headerOf(answer, "Content-Length")
  if (lengthText === null && !ended) return null
  const length = lengthText === null ? received.length - head.length : Number(lengthText)
  if (received.length < head.length + length) return null
  return {
    length: head.length + length,
    answer: { ...answer, body: received.slice(head.length, head.length + length) },
  }
}

function cutChunks(received: string, answer: RawAnswer) {
  let at = answer.head.length
  let body = ""
  for (;;) {
    const lineEnd = received.indexOf("\r\n", at)
    if (lineEnd === -1) return null
    const size = Number.parseInt(received.slice(at, lineEnd), 16)
    const end = lineEnd + 2 + size + 2
    if (received.length < end) return null
    body += received.slice(lineEnd + 2, end - 2)
    if (size === 0) return { length: end, answer: { ...answer, body } }
    at = end
  }
}
