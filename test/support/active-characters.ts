// The characters that do something in a terminal, or hide there, instead of being seen.

/** What a terminal may act on, line feeds aside: first and last code point of each range. */
const ACTIVE: ReadonlyArray<readonly [first: number, last: number]> = [
  [0x00, 0x09],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0x061c, 0x061c],
  [0x200b, 0x200b],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x2069],
  [0xfeff, 0xfeff],
  [0xe0000, 0xe007f],
]

/** The active code points of a text, in hexadecimal. */
export function active(text: string): string[] {
  const found = new Set<string>()
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    if (ACTIVE.some(([first, last]) => first <= code && code <= last)) found.add(code.toString(16))
  }
  return [...found]
}
