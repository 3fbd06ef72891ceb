// One operation of the API: what is asked where, and every answer that it can get.

import type { JsonSchema } from "../wire/inputs.ts"
import type { Parameter } from "../wire/parameters.ts"

/** What a path item of OpenAPI 3.1 can hold. */
export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"] as const

export type Method = (typeof METHODS)[number]

export type MediaType = "application/json" | "text/plain" | "text/event-stream" | "application/vnd.sqlite3"

export type Content = { readonly type: MediaType; readonly schema: JsonSchema }

/** `headers` are those that the answer always has. `Cache-Control: no-store` goes without saying: every answer has it. */
export type Answer = {
  /** Of an answer that many operations share: the document has it once, under this name. */
  readonly name?: string
  readonly description: string
  readonly content?: Content
  readonly headers?: Readonly<Record<string, JsonSchema>>
}

export type Answers = Readonly<Record<number, Answer>>

export type Operation = {
  readonly method: Method
  /** With parameters in braces. */
  readonly path: string
  /** The name of the operation in code that is made from the document. */
  readonly id: string
  readonly summary: string
  readonly description?: string
  readonly parameters?: ReadonlyArray<Parameter<unknown>>
  /** Text may be empty, which is the same as no body at all; JSON may not. */
  readonly body?: Content & { readonly description?: string }
  readonly answers: Answers
}
