// The text of a bulk file.

import { UsageError } from "../exit.ts"
import { behindBreak, lineBreak, lineBreaks } from "./line-break.ts"

const NUL = "\0"

/** Without a byte-order mark. Throws `UsageError` with the first line that is not UTF-8 or has a NUL: neither is text. */
export function textOf(bytes: Uint8Array, name: string): string {
  const text = decoded(bytes)
  if (text !== null && !text.includes(NUL)) return text
  const line = text === null ? firstBadLine(bytes) : lineBreaks(text, 0, text.indexOf(NUL)) + 1
  if (text !== null || beginsAsUtf16(bytes)) {
    throw new UsageError(
      `${name} is not UTF-8 text: there is a byte of zero on line ${line}, as in UTF-16`,
      "save it as UTF-8; `iconv -f utf-16 -t utf-8` makes that of UTF-16",
    )
  }
  throw new UsageError(
    `${name} is not UTF-8 text: the first byte that cannot be read is on line ${line}`,
    "save it as UTF-8; `iconv -f latin1 -t utf-8` makes that of Latin-1",
  )
}

/** What Windows calls Unicode begins with a mark of two bytes. */
function beginsAsUtf16([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
}

function decoded(bytes: Uint8Array): string | null {
  try {
    // Without ignoreBOM the decoder takes a byte-order mark away.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

function firstBadLine(bytes: Uint8Array): number {
  // A character for each byte, so that places are the same in both.
  const text = new TextDecoder("latin1").decode(bytes)
  let line = 1
  for (let start = 0; start < text.length; line++) {
    const end = lineBreak(text, start)
    if (decoded(bytes.subarray(start, end)) === null) break
    start = behindBreak(text, end)
  }
  return line
}
