// Where a line of a text ends: at CR, LF, or CRLF, whichever program wrote it.

const LF = 10
const CR = 13

/** The place of the first line break from `start` on, or behind the text. */
export function lineBreak(text: string, start: number): number {
  let at = start
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === LF || code === CR) break
  }
  return at
}

/** Where the next line begins, if a line ends at `at`. */
export function behindBreak(text: string, at: number): number {
  return at + (text.charCodeAt(at) === CR && text.charCodeAt(at + 1) === LF ? 2 : 1)
}

/** How many line breaks there are between two places. */
export function lineBreaks(text: string, start: number, end: number): number {
  let count = 0
  for (let at = lineBreak(text, start); at < end; at = lineBreak(text, behindBreak(text, at))) count++
  return count
}
