// The rows of the catalogue that no test here covers, each with the reason.

const SEVERAL_NODES = "waits for operation on several nodes: there is no primary and no replica yet"
/** A line goes as soon as a test names its row. */
const TO_COME = "its test is being written"

const NO_TIMING =
  "no test asserts how long something takes; that tokens are compared as digests, by `timingSafeEqual`, is read in `src/http/bearer.ts`"

const REASONS: ReadonlyArray<readonly [reason: string, ids: string]> = [
  [SEVERAL_NODES, "M-02 M-04 M-05 M-06 M-07 M-08 M-09 M-10 M-11 M-12 M-13 C-10"],
  [NO_TIMING, "B-08"],
  [
    TO_COME,
    `
      D-01 D-02 D-03 D-04 D-05 D-06 D-07 D-08 D-09 D-10 D-11 D-12 D-13 D-14 D-15 D-16 D-17 D-18 D-20 D-21 D-22 D-23 D-24 D-25 D-26 D-27
      P-01 P-02 P-03 P-04 P-05 P-06 P-07 P-09 P-12
      M-01 M-03
      S-04
    `,
  ],
]

/** The reason by the id. */
export const NOT_TESTED: Readonly<Record<string, string>> = Object.fromEntries(
  REASONS.flatMap(([reason, ids]) =>
    ids
      .trim()
      .split(/\s+/)
      .map((id) => [id, reason]),
  ),
)
