// What a request may give: the JSON Schema that the API's document shows and the check that the server makes, as one value.

import { type GateError, invalid } from "../core/errors.ts"
import { quoted } from "../core/printable.ts"

/** A schema of draft 2020-12, the dialect of OpenAPI 3.1. */
export type JsonSchema = { readonly [keyword: string]: unknown }

export type Input<T> = {
  readonly schema: JsonSchema
  /** What `value` means. Throws `invalid` with a sentence that names it, if it is not what the schema says. */
  read(value: unknown, name: string): T
}

/** A text that `parse` takes. It throws `invalid` for any other: the schema cannot say all that a text must be. */
export function text<T>(keywords: JsonSchema, parse: (text: string) => T): Input<T> {
  return {
    schema: { type: "string", ...keywords },
    read(value, name) {
      if (typeof value !== "string") throw invalid(`${name} must be a string`)
      return parse(value)
    },
  }
}

type Range = { readonly minimum: number; readonly maximum?: number; readonly description?: string }

/** A whole number. Without a `maximum` it is bounded all the same, by what a double holds exactly. */
export function integer({ minimum, maximum = Number.MAX_SAFE_INTEGER, ...words }: Range): Input<number> {
  const range =
    maximum === Number.MAX_SAFE_INTEGER ? `of ${minimum} or more` : `from ${minimum} to ${maximum}`
  return {
    schema: { type: "integer", minimum, maximum, ...words },
    read(value, name) {
      const isInRange = Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum
      if (!isInRange) throw invalid(`${name} must be an integer ${range}`)
      return Number(value)
    },
  }
}

/** The same number as a text of plain decimal digits, without sign or white space, as a query carries it. */
export function inDigits({ schema, read }: Input<number>): Input<number> {
  return {
    schema,
    read: (value, name) =>
      read(typeof value === "string" && /^[0-9]{1,16}$/.test(value) ? Number(value) : Number.NaN, name),
  }
}

/** One of these texts. `kind` says in the message what they are: "an action". */
export function choice<const T extends string>(values: readonly T[], kind: string): Input<T> {
  const known = values.length === 1 ? values[0] : `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`
  return text({ enum: values }, (given) => {
    const found = values.find((one) => one === given)
    if (found === undefined) throw invalid(`${quoted(given)} is not ${kind}: use ${known}`)
    return found
  })
}

type Inputs = Readonly<Record<string, Input<unknown>>>
type Read<M extends Inputs> = { readonly [N in keyof M]: M[N] extends Input<infer T> ? T : never }

type Members<R extends Inputs, O extends Inputs> = {
  readonly required: R
  readonly optional?: O
  /** What a member was called in earlier versions: for the message to who still says so. */
  readonly formerNames?: { readonly [N in keyof R]?: string }
  readonly description: string
}

/** A JSON object. Members that are not named here are left alone. */
export function object<R extends Inputs, O extends Inputs = Record<never, never>>({
  required,
  optional,
  formerNames = {},
  description,
}: Members<R, O>): Input<Read<R> & Partial<Read<O>>> {
  const inputs = Object.entries<Input<unknown>>({ ...required, ...optional })
  const names = Object.keys(required)
  return {
    schema: {
      type: "object",
      description,
      required: names,
      properties: Object.fromEntries(inputs.map(([name, { schema }]) => [name, schema])),
    },
    read(value, name) {
      if (typeof value !== "object" || value === null) throw invalid(`${name} is not a JSON object`)
      const members: Record<string, unknown> = {}
      for (const [member, input] of inputs) {
        // An inherited member is none that the client sent.
        if (Object.hasOwn(value, member)) {
          members[member] = input.read((value as Record<string, unknown>)[member], member)
        } else if (names.includes(member)) {
          throw missing(member, formerNames[member], value)
        }
      }
      return members as Read<R> & Partial<Read<O>>
    },
  }
}

function missing(member: string, former: string | undefined, value: object): GateError {
  const isRenamed = former !== undefined && Object.hasOwn(value, former)
  return invalid(
    isRenamed
      ? `${member} is missing: the field "${former}" is called "${member}" now`
      : `${member} is missing`,
  )
}
