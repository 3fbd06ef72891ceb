// Memory and database agree: whatever was done, the allowlist that every commit was applied to decides like one that is
// loaded from the database now.

import { expect, test } from "bun:test"
import fc from "fast-check"
import { loadAllowlist } from "../../src/app/load-allowlist.ts"
import type { Allowlist } from "../../src/core/allowlist.ts"
import { fault } from "../faults/fault.ts"
import { network } from "../support/parsed.ts"
import { temporaryPaths } from "../support/temp-store.ts"
import { Workbench } from "./workbench.ts"

const newPath = temporaryPaths()

/** Few networks that overlap, so that everything happens to everything. */
const UNIVERSE = [
  ...["192.0.2.0/30", "192.0.2.0/31", "192.0.2.0", "192.0.2.1", "192.0.2.2", "0.0.0.0/0"],
  ...["2001:db8::/126", "2001:db8::", "2001:db8::1", "::/0"],
]

type Step =
  | { readonly kind: "add" | "remove"; readonly ip: string }
  | { readonly kind: "grant"; readonly ip: string; readonly seconds: number }
  | { readonly kind: "revoke"; readonly ip: string }
  | { readonly kind: "import"; readonly lines: readonly string[]; readonly prune: boolean }
  | { readonly kind: "sweep" }

const ip = fc.constantFrom(...UNIVERSE)
const seconds = fc.integer({ min: 1, max: 5 })
const line = fc
  .tuple(ip, fc.option(seconds))
  .map(([ip, seconds]) => (seconds === null ? ip : `${ip}\t${seconds}`))

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("add", "remove"), ip }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("grant"), ip, seconds }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("revoke"), ip }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("import"),
      lines: fc.array(line, { maxLength: 5 }),
      prune: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("sweep") }) },
)

/** Steps at the same time; then time goes by, or somebody sets the wall clock forward. */
const round = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 6 }),
  advance: fc.constantFrom(0, 1, 500, 1000, 1001, 3000),
  forward: fc.constantFrom(0, 0, 0, 2000),
})

test(fault(
  "J-18 J-19",
  "random changes and random time through the whole write path",
  "memory, database and log agree",
), async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 12 }), async (rounds) => {
      const bench = await Workbench.open(newPath())
      for (const { steps, advance, forward } of rounds) {
        await Promise.all(steps.map((step) => take(bench, step)))
        expect(decisions(bench.allowlist)).toEqual(await loaded(bench))
        bench.clock.advance(advance)
        bench.clock.stepWall(forward)
        expect(decisions(bench.allowlist)).toEqual(await loaded(bench))
      }
      await bench.sweeper.sweep()
      expect(decisions(bench.allowlist)).toEqual(await loaded(bench))
      const { permanentCount, temporaryCount } = await bench.gate.status()
      const page = { limit: 1000, offset: 0 }
      expect((await bench.gate.listPermanent(page)).length).toBe(permanentCount)
      expect((await bench.gate.listTemporary(page)).length).toBe(temporaryCount)
      expect((await bench.temporaryRows()).length).toBe(temporaryCount)
      await bench.store.close()
    }),
    { numRuns: 25 },
  )
}, 30_000)

async function take({ gate, sweeper }: Workbench, step: Step): Promise<void> {
  switch (step.kind) {
    case "add":
      await gate.addPermanent(network(step.ip)).catch((error) => expect(error.code).toBe("conflict"))
      return
    case "remove":
      await gate.removePermanent(network(step.ip))
      return
    case "grant":
      await gate.addTemporary({ network: network(step.ip), ttlSeconds: step.seconds, reason: null })
      return
    case "revoke":
      await gate.removeTemporary(network(step.ip))
      return
    case "import": {
      const lines = new TextEncoder().encode(step.lines.map((line) => `${line}\n`).join(""))
      await gate.import({ lines, prune: step.prune ? { maxRemovals: 100 } : null })
      return
    }
    case "sweep":
      await sweeper.sweep()
  }
}

/** What an allowlist says of every network of the universe. */
function decisions(allowlist: Allowlist) {
  return {
    permanent: allowlist.permanentCount,
    temporary: allowlist.temporaryCount,
    coverage: UNIVERSE.map((ip) => allowlist.check(network(ip))),
  }
}

async function loaded({ store, clock }: Workbench) {
  const { allowlist, badRows } = await loadAllowlist(store, clock)
  expect(badRows).toBe(0)
  return decisions(allowlist)
}
