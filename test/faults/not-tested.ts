// The rows of the catalogue that no test here covers, each with the reason.

const SEVERAL_NODES = "waits for operation on several nodes: there is no primary and no replica yet"
/** A line goes as soon as a test names its row. */
const TO_COME = "its test is being written"

const REASONS: ReadonlyArray<readonly [reason: string, ids: string]> = [
  [SEVERAL_NODES, "M-02 M-04 M-05 M-06 M-07 M-08 M-09 M-10 M-11 M-12 M-13"],
  [
    TO_COME,
    `
      A-01 A-02 A-03 A-04 A-05 A-06 A-07 A-08 A-09 A-10 A-11 A-12 A-13 A-14 A-15 A-16 A-17 A-18 A-19 A-20 A-21
      H-01 H-02 H-03 H-04 H-05 H-06 H-07 H-08 H-09 H-10 H-11 H-12 H-13 H-14 H-15 H-16 H-17 H-19 H-20 H-21 H-22 H-23 H-24 H-25 H-26 H-27 H-28 H-29 H-30 H-31
      T-01 T-02 T-03 T-04 T-05 T-06 T-07 T-08 T-09 T-10 T-11
      B-01 B-02 B-03 B-04 B-05 B-06 B-07 B-08 B-09 B-10 B-11 B-12 B-13 B-14 B-15 B-16
      J-01 J-02 J-03 J-04 J-05 J-06 J-07 J-08 J-09 J-10 J-11 J-12 J-13 J-14 J-15 J-16 J-17 J-18 J-19 J-20
      L-01 L-02 L-03 L-04 L-05 L-06 L-07 L-08
      D-01 D-02 D-03 D-04 D-05 D-06 D-07 D-08 D-09 D-10 D-11 D-12 D-13 D-14 D-15 D-16 D-17 D-18 D-19 D-20 D-21 D-22 D-23 D-24 D-25 D-26 D-27
      C-01 C-02 C-03 C-04 C-05 C-06 C-07 C-08 C-09 C-10 C-11
      P-01 P-02 P-03 P-04 P-05 P-06 P-07 P-08 P-09 P-10 P-11 P-12 P-13
      M-01 M-03
      S-01 S-02 S-03 S-04
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
