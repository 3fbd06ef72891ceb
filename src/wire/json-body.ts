// A JSON request body: exactly one object, every member once.

const QUOTE = 34
const COLON = 58
const BACKSLASH = 92

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
  // In valid JSON each member has one colon outside of strings.
  if (colonsOutsideStrings(text) !== membersWithin(value))
    throw new SyntaxError("a member of the JSON object occurs twice")
  return value as Record<string, unknown>
}

function colonsOutsideStrings(json: string): number {
  let colons = 0
  let isInString = false
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i)
    if (code === QUOTE) isInString = !isInString
    else if (!isInString) colons += code === COLON ? 1 : 0
    else if (code === BACKSLASH) i++
  }
  return colons
}

/** How many members have survived, those of values inside of values included. */
function membersWithin(value: object): number {
  let members = 0
  // A list and no recursion: a body can be nested deeper than the stack goes.
  const values: unknown[] = [value]
  for (const one of values) {
    if (typeof one !== "object" || one === null) continue
    const inner = Object.values(one)
    if (!Array.isArray(one)) members += inner.length
    for (const another of inner) values.push(another)
  }
  return members
}

const UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

function decoded(bytes: Uint8Array): string {
  try {
    return UTF_8.decode(bytes)
  } catch (cause) {
    throw new SyntaxError("the body is not valid UTF-8", { cause })
  }
}
