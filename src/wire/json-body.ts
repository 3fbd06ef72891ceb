// A JSON request body: exactly one object, every member once.

/**
 * The object in a body. Throws `SyntaxError` for anything else: bad UTF-8, broken JSON, an array or a bare value, and
 * a member that occurs twice, where two readers could each believe another one.
 */
export function parseJsonObject(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  const text = decoded(bytes)
  let members = 0
  let value: unknown
  try {
    value = JSON.parse(text, function (this: unknown, _key, member) {
      if (!Array.isArray(this)) members++
      return member
    })
  } catch (cause) {
    throw new SyntaxError("the body is not valid JSON", { cause })
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new SyntaxError("the body is not a JSON object")
  }
  // In valid JSON each member has one colon outside of strings. The reviver saw each surviving member and the root.
  const colons = text.replace(/"(?:[^"\\]|\\.)*"/gs, "").split(":").length - 1
  if (colons !== members - 1) throw new SyntaxError("a member of the JSON object occurs twice")
  return value as Record<string, unknown>
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new SyntaxError("the body is not valid UTF-8", { cause })
  }
}
