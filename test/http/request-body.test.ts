// The body of a request costs the server what it holds, in whatever pieces it comes.

import { expect, test } from "bun:test"
import { Credential } from "../../src/core/credential.ts"
import { TOKEN_FILE } from "../../src/core/principal.ts"
import { BodyTooLarge, readBody } from "../../src/http/request-body.ts"

const credential = new Credential(TOKEN_FILE)

/** A request whose body comes in these pieces, each when it is asked for. */
function inPieces(pieces: Iterable<Uint8Array>): Request {
  const source = pieces[Symbol.iterator]()
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const { done, value } = source.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
    },
    { highWaterMark: 0 },
  )
  return new Request("http://gate.test/", { method: "POST", body })
}

const cut = (bytes: Uint8Array, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.slice(i * size, (i + 1) * size))

const text = new Uint8Array(100_000).map((_, i) => i % 251)

test.each([1, 7, 4096, 16_384, 16_385, 100_000])(
  "a body in pieces of %d bytes arrives whole",
  async (size) => {
    const body = await readBody({ request: inPieces(cut(text, size)), credential }, text.length)
    expect(body).toEqual(text)
    // The database thread takes the buffer over: there may be nothing else in it.
    expect(body.buffer.byteLength).toBe(text.length)
  },
)

test("a body without a byte", async () => {
  expect(await readBody({ request: inPieces([]), credential }, 10)).toEqual(new Uint8Array())
})

test("a byte too many is refused when it comes", async () => {
  const refused = readBody({ request: inPieces(cut(text, 1_000)), credential }, text.length - 1)
  expect(await refused.catch((error) => error)).toBeInstanceOf(BodyTooLarge)
})

test("a body in a great many pieces keeps none of them: each is copied before the next one is asked for", async () => {
  function* inOneBuffer() {
    const piece = new Uint8Array(1)
    for (const byte of text) {
      // What was kept of the piece before is another byte from here on.
      piece[0] = byte
      yield piece
    }
  }
  expect(await readBody({ request: inPieces(inOneBuffer()), credential }, text.length)).toEqual(text)
})
