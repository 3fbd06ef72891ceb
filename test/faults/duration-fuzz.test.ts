// The lifetimes that people type, against a slow reader of the same notation, and against systemd where it is installed.

import { expect, setDefaultTimeout, test } from "bun:test"
import fc from "fast-check"
import { formatDuration, parseDuration } from "../../src/core/duration.ts"
import { fault } from "./fault.ts"
import { fuzz } from "./fuzz.ts"
import { rounds } from "./rounds.ts"

setDefaultTimeout(300_000)

const SECONDS: ReadonlyArray<readonly [unit: string, seconds: bigint]> = [
  ["w", 604_800n],
  ["d", 86_400n],
  ["h", 3_600n],
  ["m", 60n],
  ["s", 1n],
]

/** Character by character, and in big integers: what the README says of a lifetime, and nothing else. */
function slowDuration(text: string): bigint | null {
  let total = 0n
  let digits = ""
  let units = SECONDS
  for (const character of text) {
    if (character >= "0" && character <= "9") {
      digits += character
      continue
    }
    const at = units.findIndex(([unit]) => unit === character)
    const longest = character === "s" ? 12 : 9
    if (at === -1 || digits === "" || digits.length > longest) return null
    total += BigInt(digits) * (units[at]?.[1] ?? 0n)
    digits = ""
    units = units.slice(at + 1)
  }
  if (text === "" || digits === "") return text === "" ? null : total
  // A number without a unit is seconds, and stands alone.
  return digits === text && digits.length <= 12 ? BigInt(digits) : null
}

const count = fc.oneof(fc.nat({ max: 99 }), fc.nat({ max: 999_999_999 }))
const written = fc
  .tuple(fc.array(fc.tuple(count, fc.constantFrom(..."wdhms")), { maxLength: 6 }), fc.boolean())
  .map(([parts, inOrder]) => {
    const order = (unit: string) => "wdhms".indexOf(unit)
    const sorted = inOrder ? [...parts].sort(([, a], [, b]) => order(a) - order(b)) : parts
    return sorted.map(([number, unit]) => `${number}${unit}`).join("")
  })
const anyText = fc.oneof(
  { weight: 3, arbitrary: written },
  { weight: 2, arbitrary: fc.string({ unit: fc.constantFrom(..."0123456789wdhms"), maxLength: 16 }) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: fc.constantFrom(..."019wdhmsWDH .-+e\n\u0661\uff11"), maxLength: 12 }),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 20 }) },
)

test(
  fault(
    "J-01 L-07",
    "texts that are lifetimes, nearly are, or are anything, to the reader of the command line and to a slow one",
    "the same number of seconds, or both refuse",
  ),
  () => {
    fuzz([20_000, 2_000_000], anyText, (text) => {
      const seconds = parseDuration(text)
      expect(seconds === null ? null : BigInt(seconds)).toBe(slowDuration(text))
    })
    fuzz([5_000, 200_000], fc.nat({ max: 315_360_000 }), (seconds) => {
      expect(slowDuration(formatDuration(seconds))).toBe(BigInt(seconds))
    })
  },
)

/** What systemd-analyze 252 says, in seconds. */
const RECORDED: ReadonlyArray<readonly [text: string, seconds: number]> = [
  ["1w2d", 777_600],
  ["90", 90],
  ["1h30m", 5_400],
  ["2w3d4h5m6s", 1_483_506],
  ["1d", 86_400],
  ["59m59s", 3_599],
  ["007s", 7],
]

test(
  fault(
    "J-01",
    "lifetimes that both understand, to ipgate and to systemd: recorded, and asked where systemd-analyze is installed",
    "the same number of seconds",
  ),
  () => {
    for (const [text, seconds] of RECORDED) expect([text, parseDuration(text)]).toEqual([text, seconds])
    const program = Bun.which("systemd-analyze")
    if (program === null) return
    // systemd knows no more than 2^64 microseconds.
    const sample = [...new Set(fc.sample(written, { numRuns: rounds(200, 5_000) }))]
    const both = sample.flatMap((text) => {
      const seconds = parseDuration(text)
      return seconds === null || seconds === 0 || seconds > 2 ** 40 ? [] : [[text, BigInt(seconds)] as const]
    })
    expect(both.length).toBeGreaterThan(20)
    const { stdout } = Bun.spawnSync([program, "timespan", ...both.map(([text]) => text)])
    const answers = [...stdout.toString().matchAll(/μs: ([0-9]+)/g)].map(([, count]) => BigInt(count ?? 0))
    expect(answers).toEqual(both.map(([, seconds]) => seconds * 1_000_000n))
  },
)
