// The items of a JSON array (RFC 8259), a group at a time: a million entries parsed at once would take 700 MB.

import { hasRepeatedMember } from "../../src/wire/repeated-member.ts"
import { lineBreaks } from "./line-break.ts"

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
 * Throws `SyntaxError`, with the line and the item, for what `JSON.parse` refuses, for a member that occurs twice, of which it
 * would keep the last, and for every other value than an array; items before the fault may have been yielded by then. The
 * text is only cut between items here: what they are is for `JSON.parse` to say.
 */
export function* itemsOf(json: string, group = GROUP): Generator<unknown> {
  const opening = /^[ \t\r\n]*\[/.exec(json)?.[0].length
  if (opening === undefined) throw new SyntaxError("the JSON must be an array, as `ipgate export` writes it")
  let count = 0
  for (const { start, end, isLast } of piecesOf(json, opening, group)) {
    // Behind a group an item has to follow, and behind the array nothing may.
    const mayBeEmpty = start === opening && isLast
    const items = end === "missing" ? null : parsed(json, start, end)
    if (end === "missing" || items === null || (items.length === 0 && !mayBeEmpty))
      throw faultIn(json, start, count)
    yield* items
    count += items.length
    if (!isLast) continue
    const rest = json.slice(end + 1).search(/[^ \t\r\n]/)
    if (rest !== -1) throw fault(json, end + 1 + rest, "something follows the array")
  }
}

/** What is between two commas of the array, or between its brackets. Its end is missing if the array is not closed. */
type Piece = { readonly start: number; readonly end: number | "missing"; readonly isLast: boolean }

/** Pieces of whole items, with `group` characters at least but for the last one. */
function* piecesOf(json: string, from: number, group: number): Generator<Piece> {
  let start = from
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
        yield { start, end: at, isLast: true }
        return
      case COMMA:
        if (depth > 0 || at - start < group) break
        yield { start, end: at, isLast: false }
        start = at + 1
    }
  }
  yield { start, end: "missing", isLast: true }
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

/** `null` if it is not JSON, or has a member twice. */
function parsed(json: string, start: number, end: number): unknown[] | null {
  const text = json.slice(start, end)
  try {
    const items = JSON.parse(`[${text}]`) as unknown[]
    return hasRepeatedMember(text, items) ? null : items
  } catch {
    return null
  }
}

/** The first fault from `start` on, where item `count` + 1 begins. */
function faultIn(json: string, start: number, count: number): SyntaxError {
  let item = count
  for (const piece of piecesOf(json, start, 0)) {
    item++
    const first = piece.start + Math.max(0, json.slice(piece.start).search(/[^ \t\r\n]/))
    if (piece.end === "missing") return fault(json, first, `entry ${item} or the array is not closed`)
    const text = json.slice(piece.start, piece.end)
    if (text.trim() === "") return fault(json, first, "there is no entry beside a comma")
    try {
      if (hasRepeatedMember(text, [JSON.parse(text)])) {
        return new SyntaxError(`line ${lineAt(json, first)}: entry ${item} has a member twice`)
      }
    } catch (cause) {
      return fault(json, first, `entry ${item}: ${cause instanceof Error ? cause.message : String(cause)}`)
    }
  }
  return fault(json, start, "it cannot be read")
}

function fault(json: string, at: number, reason: string): SyntaxError {
  return new SyntaxError(`line ${lineAt(json, at)}: not valid JSON: ${reason}`)
}

function lineAt(json: string, at: number): number {
  return lineBreaks(json, 0, at) + 1
}
