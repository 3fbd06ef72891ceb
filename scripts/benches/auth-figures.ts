// What the turns of the section `auth` say: a table of all contenders, and the targets.

import type { Contender } from "./auth-contenders.ts"
import { shown } from "./cell.ts"
import type { Report } from "./report.ts"
import { median, type Ratio, ratioOf, type Sample, samplesByFigure } from "./statistics.ts"
import type { Turn } from "./wrk.ts"

/** The fastest peer reached this share of the bare Bun handler when it was measured; it is not part of this run. */
const PEER_OF_BARE = 0.2

export function tellAuth(
  report: Report,
  contenders: readonly Contender[],
  turns: Map<Contender, Turn[]>,
  connections: number,
): void {
  const named = contenders.map((contender) => [
    `${contender.name}, ${contender.clientsText}`,
    turns.get(contender) ?? [],
  ])
  report.keepRounds("auth", samplesByFigure(Object.fromEntries(named)))
  const find = (name: string, clientsText: string): readonly Sample[] => {
    const contender = contenders.find(
      (other) => other.name.startsWith(name) && other.clientsText === clientsText,
    )
    return (contender === undefined ? undefined : turns.get(contender)) ?? []
  }
  const count = contenders.find(({ name }) => /^ipgate, [0-9]{3,} entries/.test(name))?.name ?? "ipgate, "
  const bare = find("bare Bun", "1,000 clients")
  const bareAnother = find("bare Bun", "every request another")
  const large = find(count, "1,000 clients")
  const another = find(count, "every request another")
  const ten = find("ipgate, 10 entries", "10 clients")
  const geo = find("nginx geo", "1,000 clients")
  const node = find("bare node", "1,000 clients")

  const page = find("nginx, a page", "1,000 clients")
  const guarded = find("nginx, a page behind", "1,000 clients")
  const cost =
    page.length === 0
      ? ""
      : ` A page behind ipgate: ${shown(ratioOf(guarded, page).value)} of the page without a check.`
  report.table(
    "GET /auth, medians",
    ["contender", "clients", "requests/s", "CPU us a request", "core in use", "of the bare handler"],
    contenders.map((contender) => {
      const taken = turns.get(contender) ?? []
      const to = contender.clientsText.startsWith("every request another") ? bareAnother : bare
      return [
        contender.name,
        contender.clientsText,
        median(taken.map(({ perSecond }) => perSecond)),
        median(taken.map(({ cpuMicros }) => cpuMicros)),
        `${(median(taken.map(({ busy }) => busy)) * 100).toFixed(0)} %`,
        ratioOf(taken, to).value,
      ]
    }),
    `wrk with ${connections} connections in turns of the same length. The processor time of a page behind ipgate is that of nginx and ipgate together, on one core.${cost}`,
  )

  const target = (what: string, ratio: Ratio, least: number, scale = 1, more = "") =>
    report.target({
      what,
      value: ratio.value * scale,
      unit: "",
      must: "at least",
      target: least,
      detail: `by ${ratio.by}; requests/s ${(ratio.requests * scale).toFixed(2)}, CPU time ${(ratio.cpu * scale).toFixed(2)}${more}`,
    })
  const size = count.replace("ipgate, ", "")
  target(`/auth, ${size}, 1,000 clients, of a bare Bun.serve handler`, ratioOf(large, bare), 0.9)
  target(
    `/auth, ${size}, every request another client, of a bare Bun.serve handler`,
    ratioOf(another, bareAnother),
    0.8,
  )
  if (geo.length > 0)
    target(`/auth, ${size}, of nginx deciding by its own geo table`, ratioOf(large, geo), 0.85)
  target(
    `/auth, ${size}, of the fastest peer`,
    ratioOf(large, bare),
    4,
    1 / PEER_OF_BARE,
    `; the peer is not in this run: it is put at ${PEER_OF_BARE} of the bare Bun handler, as measured earlier${
      node.length > 0
        ? `; of a bare node:http handler, which no peer on Node can beat, ${ratioOf(large, node).value.toFixed(2)}`
        : ""
    }`,
  )
  target(`/auth, ${size}, of the same with 10 entries`, ratioOf(large, ten), 0.9)
  target(
    "/auth, all prefix lengths from 1 in use, every request another client, of 10 entries asked for the same",
    ratioOf(
      find("ipgate, all lengths from 1", "every request another"),
      find("ipgate, 10 entries", "every request another of all lengths"),
    ),
    0.9,
  )
  target(
    "/auth, all 33 + 129 prefix lengths in use, of 10 entries",
    ratioOf(find("ipgate, all lengths from 0", "1,000 clients"), ten),
    0.9,
  )
}
