// Rows whose key is not that of the text beside it.

import type { Family } from "../core/address.ts"
import { Network } from "../core/network.ts"
import { LONGEST_TEXT, writeText } from "./canonical-text.ts"
import { KeyReader, keySize } from "./entry-key.ts"

const NEWLINE = 10

/**
 * Overwrites with zeros each key that is not that of its text; `texts` are lines in the order of the keys. The key
 * decides who is let in, and SQLite has no checksum that would tell that a byte of it is another one.
 */
export function clearWrongKeys(keys: Uint8Array<ArrayBuffer>, texts: Uint8Array, family: Family): void {
  const size = keySize(family)
  const key = new KeyReader(new DataView(keys.buffer, keys.byteOffset, keys.length), family)
  const wanted = new Uint8Array(LONGEST_TEXT)
  let at = 0
  for (let offset = 0; offset < keys.length; offset += size) {
    const end = key.read(offset) ? at + writeText(key, wanted) : -1
    if (!isLine(texts, at, end, wanted)) {
      compareByReading(keys.subarray(offset), texts.subarray(at), family)
      return
    }
    at = end + 1
  }
}

/** True if `line` is what stands between `at` and `end`, and the line ends there. */
function isLine(texts: Uint8Array, at: number, end: number, line: Uint8Array): boolean {
  if (end > texts.length || (end < texts.length && texts[end] !== NEWLINE)) return false
  for (let i = at; i < end; i++) if (texts[i] !== line[i - at]) return false
  return true
}

// For what is left of a chunk once a line is not as it would be written today: another spelling is right too.
function compareByReading(keys: Uint8Array<ArrayBuffer>, texts: Uint8Array, family: Family): void {
  const size = keySize(family)
  const key = new KeyReader(new DataView(keys.buffer, keys.byteOffset, keys.length), family)
  // As Latin-1: what is no text of a network is none in any encoding.
  const lines = Buffer.from(texts).toString("latin1").split("\n")
  let next = 0
  // A damaged text can be several lines, behind which that of the next key stands.
  let spare = lines.length - keys.length / size
  for (let offset = 0; offset < keys.length; offset += size) {
    const isKey = key.read(offset)
    let at = next
    while (at - next < spare && !isSaid(key, lines[at])) at++
    if (isKey && isSaid(key, lines[at])) {
      spare -= at - next
      next = at + 1
    } else {
      keys.fill(0, offset, offset + size)
      next++
    }
  }
}

function isSaid(key: KeyReader, line: string | undefined): boolean {
  const network = line === undefined ? null : Network.parse(line)
  return (
    network !== null &&
    network.family === key.family &&
    network.length === key.length &&
    network.word0 === key.word0 &&
    network.word1 === key.word1 &&
    network.word2 === key.word2 &&
    network.word3 === key.word3
  )
}
