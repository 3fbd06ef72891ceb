// The rows of the catalogue that no test here covers, each with the reason.

const SEVERAL_NODES = "waits for operation on several nodes: there is no primary and no replica yet"
const MEASURED =
  "measured by `./scripts/bench` with a million entries: start, memory, decisions, and the time of both while they are written"
const NO_TIMING =
  "no test asserts how long something takes; that tokens are compared as digests, by `timingSafeEqual`, is read in `src/http/bearer.ts`"

const REASONS: ReadonlyArray<readonly [reason: string, ids: string]> = [
  [SEVERAL_NODES, "M-02 M-04 M-05 M-06 M-07 M-08 M-09 M-10 M-11 M-12 M-13 C-10"],
  [NO_TIMING, "B-08"],
  [MEASURED, "D-21"],
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
