// Whether a JSON text names a member twice, of which `JSON.parse` keeps the last.

const QUOTE = 34
const COLON = 58
const BACKSLASH = 92

/**
 * True if an object in the text, at any depth, has a member twice. `value` is what `JSON.parse` has made of the text, or of
 * the text in brackets.
 */
export function hasRepeatedMember(json: string, value: object): boolean {
  // In valid JSON each member has one colon outside of strings.
  return colonsOutsideStrings(json) !== membersWithin(value)
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
