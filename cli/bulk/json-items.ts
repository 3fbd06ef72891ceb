// The items of a JSON array (RFC 8259), a group at a time: a million entries parsed at once would take 700 MB.

const QUOTE = 34
const COMMA = 44
const OPEN_BRACKET = 91
const BACKSLASH = 92
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

/** Characters of a group, at least; it ends with the item that they end in. */
const GROUP = 256 * 1024

/**
 * Throws `SyntaxError` for what `JSON.parse` refuses, and for every other value than an array; items before the fault may
 * have been yielded by then. The text is only cut between items here: what they are is for `JSON.parse` to say.
 */
export function* itemsOf(json: string, group = GROUP): Generator<unknown> {
  const opening = /^[ \t\r\n]*\[/.exec(json)
  if (opening === null) {
    parsed(json)
    throw new SyntaxError("the JSON must be an array, as `ipgate export` writes it")
  }
  let start = opening[0].length
  let depth = 0
  for (let at = start; at < json.length; at++) {
    switch (json.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(json, at)
        break
      case OPEN_BRACKET:
      case OPEN_BRACE:
        depth++
        break
      case CLOSE_BRACE:
        depth--
        break
      case CLOSE_BRACKET:
        if (depth-- > 0) break
        // Behind a group an item has to follow, and behind the array nothing may.
        yield* itemsBetween(json, start, at, start > opening[0].length)
        if (/[^ \t\r\n]/.test(json.slice(at + 1))) throw invalid("something follows the array")
        return
      case COMMA:
        if (depth > 0 || at - start < group) break
        yield* itemsBetween(json, start, at, true)
        start = at + 1
    }
  }
  throw invalid("the array is not closed")
}

/** The place of the quote that closes a string, or behind the text. */
function endOfString(json: string, quote: number): number {
  let at = quote + 1
  for (; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) break
    if (code === BACKSLASH) at++
  }
  return at
}

function itemsBetween(json: string, start: number, end: number, isNeeded: boolean): unknown[] {
  const items = parsed(`[${json.slice(start, end)}]`) as unknown[]
  if (isNeeded && items.length === 0) throw invalid("nothing follows a comma")
  return items
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (cause) {
    throw invalid(cause instanceof Error ? cause.message : String(cause))
  }
}

function invalid(reason: string): SyntaxError {
  return new SyntaxError(`not valid JSON: ${reason}`)
}
