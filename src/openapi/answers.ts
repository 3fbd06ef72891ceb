// The answers that operations share, as `http/responses.ts` gives them.

import type { JsonSchema } from "../wire/inputs.ts"
import { RESULT_HEADER } from "../wire/paths.ts"
import { RETRY_AFTER } from "../wire/statuses.ts"
import { type Answer, type Answers, METHODS, type Operation } from "./operation.ts"

type Headers = Readonly<Record<string, JsonSchema>>

/** An answer that holds JSON. */
export function json(description: string, schema: JsonSchema) {
  return { 200: { description, content: { type: "application/json", schema } } } as const
}

/** The 204 of a change: what it did stands in a header. */
export function changed(description: string, results: readonly string[], headers: Headers = {}) {
  const result = { type: "string", enum: results, description: "What the request did." }
  return { 204: { description, headers: { [RESULT_HEADER]: result, ...headers } } } as const
}

/** A refusal, with a sentence for people. */
export function refusal(name: string, description: string, headers: Headers = {}): Answer {
  return {
    name,
    description,
    content: { type: "text/plain", schema: { type: "string", minLength: 1 } },
    headers: { ...NO_SNIFF, ...headers },
  }
}

export const NO_SNIFF = {
  "X-Content-Type-Options": { type: "string", const: "nosniff", description: "Text is text." },
} as const

const ALLOW = { type: "string", description: "The methods that the path has, with a comma between." }

/** The 405 of `/auth`, which has no body, as the other decisions. */
export const NOT_GET: Answers = { 405: { description: "Any other method.", headers: { Allow: ALLOW } } }

export const METHOD_NOT_ALLOWED: Answers = {
  405: refusal("MethodNotAllowed", "Any method that the path does not have.", { Allow: ALLOW }),
}

/** What every operation that wants a token can answer besides. */
const GUARDED: Answers = {
  401: refusal(
    "Unauthorized",
    "The token is missing, malformed, wrong, revoked or expired: the answer does not say which. Whoever keeps sending wrong ones waits for it.",
    { "WWW-Authenticate": { type: "string", const: "Bearer", description: "The challenge of RFC 6750." } },
  ),
  403: refusal("Forbidden", "The token is not good for this. The body says what it is good for.", {
    "WWW-Authenticate": {
      type: "string",
      const: 'Bearer error="insufficient_scope"',
      description: "The challenge of RFC 6750, section 3.1.",
    },
  }),
  ...METHOD_NOT_ALLOWED,
  500: refusal(
    "Failed",
    "The database does not work, or something broke that should not. A change may have taken effect.",
  ),
}

/** The 503 of what only so many may do at once. */
export const BUSY: Answers = {
  503: refusal("Busy", "Too many exports and backups, or too large imports, are under way already.", {
    "Retry-After": { type: "string", const: String(RETRY_AFTER), description: "Seconds to wait." },
  }),
}

const BAD_REQUEST = refusal(
  "BadRequest",
  "The request makes no sense. The body says why, and nothing was changed.",
)

const TOO_LARGE = refusal("TooLarge", "The body is larger than the operation takes. Nothing was changed.", {
  Connection: { type: "string", const: "close", description: "The rest of the body is not read." },
})

/** The operation with the answers that follow from what it is: it wants a token, it has an input, it has a body. */
export function guarded(operation: Operation): Operation {
  const { parameters, body, answers } = operation
  const hasInput = parameters !== undefined || body !== undefined
  return {
    ...operation,
    answers: {
      ...answers,
      ...(hasInput ? { 400: BAD_REQUEST } : {}),
      ...(body === undefined ? {} : { 413: TOO_LARGE }),
      ...GUARDED,
    },
  }
}

/** The same operation for every method. */
export function anyMethod({ id, ...operation }: Omit<Operation, "method">): Operation[] {
  return METHODS.map((method) => ({
    ...operation,
    method,
    id: `${id}By${method[0]}${method.slice(1).toLowerCase()}`,
  }))
}
