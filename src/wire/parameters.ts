// The named parts of a request outside of its body: in the query, in a header, in the path.

import { invalid } from "../core/errors.ts"
import type { Input, JsonSchema } from "./inputs.ts"

export type Parameter<T> = {
  readonly name: string
  readonly in: "query" | "header" | "path"
  readonly required: boolean
  readonly description: string
  readonly schema: JsonSchema
  /** What the text means, or its absence (`null`). Throws `invalid` for what must not be. */
  read(text: string | null): T
}

type Words<T> = {
  readonly name: string
  /** Default: in the query. */
  readonly in?: Parameter<T>["in"]
  readonly description: string
  readonly input: Input<T>
}

/** A parameter that may be absent: `null`. */
export function optional<T>(words: Words<T>): Parameter<T | null> {
  const { name, input } = words
  return parameter(words, false, input.schema, (text) => (text === null ? null : input.read(text, name)))
}

/** A parameter that means `fallback` where it is absent. */
export function withDefault<T>(words: Words<T>, fallback: T): Parameter<T> {
  const { name, input } = words
  const schema = { ...input.schema, default: fallback }
  return parameter(words, false, schema, (text) => (text === null ? fallback : input.read(text, name)))
}

/** A parameter without which the request makes no sense. */
export function required<T>(words: Words<T>): Parameter<T> {
  const { name, input } = words
  return parameter(words, true, input.schema, (text) => {
    if (text === null) throw invalid(`${name} is missing`)
    return input.read(text, name)
  })
}

function parameter<T>(
  { name, in: place = "query", description }: Omit<Words<unknown>, "input">,
  isRequired: boolean,
  schema: JsonSchema,
  read: (text: string | null) => T,
): Parameter<T> {
  return { name, in: place, required: isRequired, description, schema, read }
}

/** Reads a parameter of a query, which may hold it once. */
export function fromQuery<T>(query: URLSearchParams, parameter: Parameter<T>): T {
  const values = query.getAll(parameter.name)
  if (values.length > 1) throw invalid(`${parameter.name} occurs more than once`)
  return parameter.read(values[0] ?? null)
}
