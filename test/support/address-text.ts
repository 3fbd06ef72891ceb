// Address text for property tests: every legal spelling, text that is nearly legal, and text that is not.

import fc from "fast-check"
import { type SlowAddress, slowText } from "./slow-address.ts"

/** Text, and the address that it spells. */
export type Spelling = SlowAddress & { readonly text: string }

const ipv4Value = fc.oneof(
  fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  fc
    .array(fc.constantFrom(0, 1, 9, 10, 99, 100, 127, 128, 199, 200, 249, 250, 255), {
      minLength: 4,
      maxLength: 4,
    })
    .map((octets) => octets.reduce<number>((value, octet) => value * 256 + octet, 0)),
)

export const ipv4Spelling: fc.Arbitrary<Spelling> = ipv4Value.map((value) => {
  const address = { family: 4, value: BigInt(value) } as const
  return { ...address, text: slowText(address) }
})

const group = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(1, 0xf, 0x10, 0xff, 0x100, 0xfff, 0x1000, 0x8000, 0xfffe, 0xffff) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 0xffff }) },
)

const groups = fc.oneof(
  { weight: 4, arbitrary: fc.array(group, { minLength: 8, maxLength: 8 }) },
  // The mapped block and its neighbours: the block that becomes IPv4, and those that must not.
  {
    weight: 1,
    arbitrary: fc
      .tuple(group, fc.constantFrom(0xffff, 0xfffe, 0), group, group)
      .map(([near, marker, high, low]) => [0, 0, 0, 0, near, marker, high, low]),
  },
  {
    weight: 1,
    arbitrary: ipv4Value.map((value) => [0, 0, 0, 0, 0, 0xffff, Math.floor(value / 65536), value % 65536]),
  },
)

const style = fc.record({
  /** Digits of each group, if it needs fewer. */
  widths: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 8, maxLength: 8 }),
  upperCase: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
  dottedTail: fc.boolean(),
  /** Which of the legal places of `::` is taken, counted round; the first stands for none. */
  gap: fc.nat({ max: 40 }),
})

/** IPv6 text in any legal spelling: padded or not, either case, `::` for any run of zeros, with a dotted tail or not. */
export const ipv6Spelling: fc.Arbitrary<Spelling> = fc.tuple(groups, style).map(([words, how]) => {
  const value = words.reduce((sum, word) => sum * 65536n + BigInt(word), 0n)
  const text = spell(words, how)
  return value >> 32n === 0xffffn
    ? { family: 4, value: value & 0xffffffffn, text }
    : { family: 6, value, text }
})

/** Text that may or may not be an address: a good one with a few characters changed. */
export const mutatedText: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof(ipv4Spelling, ipv6Spelling),
    fc.array(
      fc.record({
        at: fc.nat({ max: 50 }),
        remove: fc.integer({ min: 0, max: 2 }),
        insert: fc.constantFrom(
          ..."0123456789abcdefABCDEFgxX.:/%[] ,;-+_\n\t\r\0\x1b\u200b\u0661\uff11\uff1a",
          ...["::", "00", "0x", "255", "256", "ffff", "/24", "%25", "1.2.3.4", ""],
        ),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  )
  .map(([{ text }, edits]) =>
    edits.reduce((current, { at, remove, insert }) => {
      const start = at % (current.length + 1)
      return current.slice(0, start) + insert + current.slice(start + remove)
    }, text),
  )

/** Text without any plan: often of the characters of an address, sometimes of any. */
export const randomText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."0123456789.:"), maxLength: 20 }),
  fc.string({ unit: fc.constantFrom(..."01af:./"), maxLength: 48 }),
  fc.string({ unit: "binary", maxLength: 60 }),
)

function spell(
  words: readonly number[],
  { widths, upperCase, dottedTail, gap }: typeof style extends fc.Arbitrary<infer Style> ? Style : never,
): string {
  const parts = words.map((word, i) => {
    const hex = word.toString(16).padStart(widths[i] ?? 1, "0")
    return upperCase[i] ? hex.toUpperCase() : hex
  })
  if (dottedTail) {
    const [high = 0, low = 0] = words.slice(6)
    parts.splice(6, 2, [high >> 8, high & 255, low >> 8, low & 255].join("."))
  }
  const colonGroups = dottedTail ? 6 : 8
  const gaps: Array<readonly [start: number, end: number] | null> = [null]
  for (let start = 0; start < colonGroups; start++) {
    for (let end = start + 1; end <= colonGroups && words[end - 1] === 0; end++) gaps.push([start, end])
  }
  const taken = gaps[gap % gaps.length]
  if (!taken) return parts.join(":")
  return `${parts.slice(0, taken[0]).join(":")}::${parts.slice(taken[1]).join(":")}`
}
