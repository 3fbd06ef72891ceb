// The index by itself: nanoseconds a decision and bytes an entry, beside the structures that were not chosen.

import { join } from "node:path"
import { shown } from "../cell.ts"
import { CANDIDATES, type IndexFigure, type IndexSizes } from "../index-process.ts"
import type { Lab } from "../lab.ts"
import { Lines } from "../lines.ts"
import type { Report } from "../report.ts"

export async function measureIndex(lab: Lab, report: Report): Promise<void> {
  report.section("the index")
  const { plan } = lab
  const sizes: IndexSizes = {
    entries: plan.indexEntries,
    probes: plan.indexProbes,
    repeats: plan.indexRepeats,
    timed: plan.indexMilliseconds,
  }
  const figures = new Map<string, IndexFigure[]>()
  for (const name of Object.keys(CANDIDATES)) {
    const script = join(import.meta.dir, "../index-process.ts")
    const child = lab.start([...lab.cores.load, process.execPath, script, name, JSON.stringify(sizes)])
    const own = JSON.parse(await new Lines(child, `the index ${name}`).next()) as IndexFigure[]
    await child.exited
    figures.set(name, own)
    const wrong = own.reduce((sum, figure) => sum + figure.wrong, 0)
    if (wrong > 0) report.wrongAnswer(`${name}: ${wrong} wrong decisions`)
  }
  const names = [...figures.keys()]
  const first = figures.get(names[0] ?? "") ?? []
  report.table(
    "The index: nanoseconds for an address in a network / just outside of one / far from all",
    ["family", "prefix lengths", "entries", "probes", ...names],
    first.map(({ family, lengths, entries, probes }, i) => [
      `IPv${family}`,
      lengths,
      shown(entries),
      shown(probes),
      ...names.map((name) => {
        const figure = figures.get(name)?.[i]
        return figure === undefined ? "-" : [figure.hit, figure.near, figure.far].map(whole).join(" / ")
      }),
    ]),
    "Each candidate in a process of its own. A thousand probes stay in the processor's caches, a million do not. With all lengths a network of length 0 is there too, and lets nobody in, so that no search can end early. sorted-ranges has no such network and no values, and takes no changes.",
  )
  const many = Math.max(...plan.indexEntries)
  report.table(
    `The index: bytes an entry, of ${shown(many)} entries`,
    ["family", "prefix lengths", ...names],
    first.flatMap(({ family, lengths, entries, probes }, i) =>
      entries !== many || probes !== plan.indexProbes[0]
        ? []
        : [
            [
              `IPv${family}`,
              lengths,
              ...names.map((name) => figures.get(name)?.[i]?.bytesAnEntry ?? Number.NaN),
            ],
          ],
    ),
  )
}

function whole(nanoseconds: number): string {
  return nanoseconds.toFixed(0)
}
