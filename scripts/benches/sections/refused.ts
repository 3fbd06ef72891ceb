// What a flood of strangers costs: a million different addresses, each remembered as refused.

import { Address } from "../../../src/core/address.ts"
import { systemClock } from "../../../src/core/clock.ts"
import { RefusedClients } from "../../../src/core/refused-clients.ts"
import type { Lab } from "../lab.ts"
import type { Report } from "../report.ts"
import { median } from "../statistics.ts"

const FLOOD = 1_000_000
/** A twentieth of the 7 us of processor time that the bare handler takes for a request. */
const MOST_NANOSECONDS = 350

export async function measureRefused(lab: Lab, report: Report): Promise<void> {
  report.section("refused clients")
  const count = lab.plan.quick ? FLOOD / 100 : FLOOD
  const strangers = Array.from({ length: count }, (_, i) => Address.ipv4(Math.imul(i, 0x9e3779b1)))
  const rounds: number[] = []
  let remembered = 0
  for (let round = 0; round < 5; round++) {
    const refused = new RefusedClients(systemClock)
    const start = systemClock.mono()
    for (const stranger of strangers) refused.see(stranger)
    rounds.push(((systemClock.mono() - start) * 1e6) / count)
    remembered = refused.list().length
  }
  if (remembered > 4096)
    report.wrongAnswer(`${remembered} refused clients are remembered, and 4,096 are the most`)
  report.keepRounds("refused", { nanosecondsEach: rounds })
  report.table(
    "A flood of different addresses",
    ["addresses", "remembered", "ns each", "KiB, whatever comes"],
    [[count, remembered, median(rounds), (4096 * (1 + 16 + 24)) / 1024]],
  )
  report.target({
    what: `remembering each of ${count} refused clients, nanoseconds`,
    value: median(rounds),
    unit: "",
    must: "at most",
    target: MOST_NANOSECONDS,
    detail: "5 % of the processor time of a bare request",
  })
}
