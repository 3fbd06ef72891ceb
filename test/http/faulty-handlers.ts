// Handlers that go wrong in every way that a handler can, and what a server makes of them.

import { guarded, type Handler } from "../../src/http/guard.ts"
import { internalError } from "../../src/http/responses.ts"
import { listen } from "../../src/http/server.ts"

/** Stands in every message that must stay inside. */
export const SECRET = "a-secret-of-the-inside"

const trap = (): never => {
  throw new Error(SECRET)
}

/** Throws at whatever is asked of it, but lets itself be passed on by a promise. */
const trapped = () =>
  new Proxy(
    {},
    {
      get: (_target, name) => (name === "then" ? undefined : trap()),
      has: trap,
      ownKeys: trap,
      getPrototypeOf: trap,
      getOwnPropertyDescriptor: trap,
    },
  )

const getters = () => ({
  get status(): number {
    return trap()
  },
  get headers(): Headers {
    return trap()
  },
})

const THEN = "then"
const promiseWithOwnThen = () => Object.assign(Promise.resolve(), { [THEN]: () => undefined })
const thenable = () => ({ [THEN]: (resolve: (value: unknown) => void) => resolve(allowed()) })
const allowed = () => new Response(null, { status: 204 })

const VALUES: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  "an empty string": () => "",
  "a string": () => "denied",
  "a number": () => 401,
  "the number 204": () => 204,
  NaN: () => Number.NaN,
  true: () => true,
  false: () => false,
  "a big integer": () => 204n,
  "a symbol": () => Symbol("x"),
  "an object": () => ({}),
  "an object with a status": () => ({ status: 204, ok: true, headers: {}, body: null }),
  "an object whose getters throw": getters,
  "a proxy that throws at everything": trapped,
  "an array": () => [allowed()],
  "a function": () => allowed,
  "an error": () => new Error(SECRET),
  "a request": () => new Request("http://gate.test/auth"),
  "the response of an error": () => Response.error(),
  "an object with the prototype of a response": () => Object.create(Response.prototype),
  "a proxy of a response": () => new Proxy(allowed(), {}),
}

const THROWN: Readonly<Record<string, () => unknown>> = {
  "an error": () => new Error(SECRET),
  "an error with a cause": () => new Error(SECRET, { cause: new Error(SECRET) }),
  "a string": () => SECRET,
  undefined: () => undefined,
  null: () => null,
  "a 204": allowed,
  "a big integer": () => 204n,
  "an object that refers to itself": () => {
    const self: Record<string, unknown> = {}
    self.self = self
    return self
  },
  "an object whose getters throw": getters,
  "a proxy that throws at everything": trapped,
}

function throwing(value: () => unknown): () => never {
  return () => {
    throw value()
  }
}

/** Each ends in a 500 if its handler is guarded. The names are for people. */
export const FAULTS: ReadonlyArray<readonly [name: string, handler: () => unknown]> = [
  ...Object.entries(VALUES).map(([name, value]) => [`returns ${name}`, value] as const),
  ...Object.entries(VALUES).map(([name, value]) => [`resolves to ${name}`, async () => value()] as const),
  ...Object.entries(VALUES).map(
    ([name, value]) =>
      [
        `resolves later to ${name}`,
        async () => {
          await Bun.sleep(1)
          return value()
        },
      ] as const,
  ),
  ...Object.entries(THROWN).map(([name, value]) => [`throws ${name}`, throwing(value)] as const),
  ...Object.entries(THROWN).map(
    ([name, value]) => [`rejects with ${name}`, async () => throwing(value)()] as const,
  ),
  ...Object.entries(THROWN).map(
    ([name, value]) =>
      [
        `rejects later with ${name}`,
        async () => {
          await Bun.sleep(1)
          throw value()
        },
      ] as const,
  ),
  ["returns a promise that is not followed", promiseWithOwnThen],
  ["returns something like a promise", thenable],
  ["never ends its recursion", recursion],
]

function recursion(): unknown {
  return [recursion()]
}

/** A server on which `/guarded/N` and `/bare/N` run the fault number N. */
export function listenWithFaults() {
  const paths: Record<string, Handler> = {}
  FAULTS.forEach(([, handler], i) => {
    paths[`/guarded/${i}`] = guarded(handler as Handler, internalError)
    paths[`/bare/${i}`] = handler as Handler
  })
  return listen(
    { kind: "tcp", hostname: "127.0.0.1", port: 0 },
    {
      paths,
      notFound: guarded(() => new Response(null, { status: 404 }), internalError),
      trustsLoopback: false,
    },
  )
}

export type FaultAnswer = {
  readonly name: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What the server says to each fault. */
export async function answersToFaults(kind: "guarded" | "bare"): Promise<FaultAnswer[]> {
  const listener = listenWithFaults()
  const { address } = listener
  if (address.kind !== "tcp") throw new Error("the listener is on TCP")
  const answers: FaultAnswer[] = []
  for (const [i, [name]] of FAULTS.entries()) {
    const answer = await fetch(`http://127.0.0.1:${address.port}/${kind}/${i}`)
    const { date, ...headers } = Object.fromEntries(answer.headers)
    answers.push({ name, status: answer.status, headers, body: await answer.text() })
  }
  await listener.stop()
  return answers
}

// As a process of its own: some of what Bun does depends on the environment at the start, and it tells of each fault
// on the standard error stream.
if (import.meta.main) {
  console.log(JSON.stringify(await answersToFaults(process.argv[2] === "bare" ? "bare" : "guarded")))
}
