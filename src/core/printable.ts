// Text from elsewhere made safe to show: it can neither drive a terminal, nor forge a line, nor reorder what is around it.

/**
 * Control characters (C0, DEL, C1), line separators, bidirectional controls, invisible format characters and lone
 * surrogates: what a reason may not contain, and what output escapes whoever wrote the row.
 */
const UNPRINTABLE =
  /\u034f|[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\u3164\ufeff\uffa0\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu

/** True if `text` has no character that `printable` would escape. */
export function isPrintable(text: string): boolean {
  return text.search(UNPRINTABLE) === -1
}

/** `text` with each unprintable character as `\xNN`, `\uNNNN` or `\u{N}`. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    const code = character.codePointAt(0) ?? 0
    if (code <= 0xff) return `\\x${code.toString(16).padStart(2, "0")}`
    if (code <= 0xffff) return `\\u${code.toString(16).padStart(4, "0")}`
    return `\\u{${code.toString(16)}}`
  })
}

/** JSON with each unprintable character of its texts as `\uNNNN`: the same value, in one line. */
export function printableJson(json: string): string {
  // Inside JSON every unprintable character stands in a text, where that is its escape.
  return json.replace(/[^\x20-\x7e]/g, (character) =>
    printable(character) === character
      ? character
      : [...Array(character.length).keys()]
          .map((i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`)
          .join(""),
  )
}

const QUOTED_CHARACTERS = 64

/** `text` in double quotes, printable, and cut to 64 characters: for messages that repeat what somebody sent. */
export function quoted(text: string): string {
  const characters = [...text.slice(0, QUOTED_CHARACTERS * 2)]
  const cut = text.length > QUOTED_CHARACTERS * 2 || characters.length > QUOTED_CHARACTERS
  return `"${printable(characters.slice(0, QUOTED_CHARACTERS).join(""))}${cut ? "…" : ""}"`
}
