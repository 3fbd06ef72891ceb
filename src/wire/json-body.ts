// A JSON request body: exactly one object, every member once.

import { hasRepeatedMember } from "./repeated-member.ts"

/**
 * The object in a body. Throws `SyntaxError` for anything else: bad UTF-8, broken JSON, an array or a bare value, and
 * a member that occurs twice, where two readers could each believe another one.
 */
export function parseJsonObject(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  const text = decoded(bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new SyntaxError("the body is not valid JSON", { cause })
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new SyntaxError("the body is not a JSON object")
  }
  if (hasRepeatedMember(text, value)) throw new SyntaxError("a member of the JSON object occurs twice")
  return value as Record<string, unknown>
}

const UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

function decoded(bytes: Uint8Array): string {
  try {
    return UTF_8.decode(bytes)
  } catch (cause) {
    throw new SyntaxError("the body is not valid UTF-8", { cause })
  }
}
