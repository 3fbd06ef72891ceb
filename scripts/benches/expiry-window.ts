// The window in which many entries expire at once.

import type { ServerProcess } from "../../test/support/binary.ts"
import { importFile } from "./import-file.ts"
import type { Lab } from "./lab.ts"
import type { Probe } from "./probe.ts"
import type { Window } from "./prober.ts"
import type { Report } from "./report.ts"

/** Milliseconds after which what must happen has not happened. */
const LONGEST_WAIT = 60_000
/** What the server writes of each end once it is recorded. */
const ENDED = " notice ended "

/** From the moment when they end until the last one is in the log, which tells of so many expiries already. */
export async function whileExpiring(
  lab: Lab,
  report: Report,
  server: ServerProcess,
  probe: Probe,
  toldBefore: number,
): Promise<Window> {
  const count = lab.plan.expiringAtOnce
  const names = Array.from({ length: count }, (_, i) => `172.16.${i >> 8}.${i & 255}`)
  const file = await lab.write("expiring.txt", `${names.join("\n")}\n`)
  await importFile(lab, server.url, file, "--ttl", "3s")
  const ends = new LinesToCome(server, ENDED)
  const status = async () =>
    (await fetch(`${server.url}/status`)).json() as Promise<{ temp_whitelist_count: number }>
  const last = names.at(-1) as string
  if ((await server.decision(last)) !== 204) report.wrongAnswer(`${last} is not let in before it expires`)
  const toExpire = async () => (await status()).temp_whitelist_count === 0
  if (!(await within(toExpire, 20))) report.wrongAnswer(`${count} entries do not expire`)
  const window = await probe.during("expiry", async () => {
    if (!(await within(async () => ends.come() >= count, 100)))
      report.wrongAnswer(`the server tells of ${ends.come()} of ${count} expiries`)
  })
  const recorded = `/api/logs?action=expire_temp&limit=1&offset=${toldBefore + count - 1}`
  if ((await server.read<unknown[]>(recorded)).length === 0)
    report.wrongAnswer(`the log does not tell of ${count} expiries`)
  if ((await server.decision(last)) !== 401) report.wrongAnswer(`${last} is let in after it expired`)
  return window
}

/** Asks at this interval of milliseconds until it is so; false if it does not become so. */
async function within(isSo: () => Promise<boolean>, interval: number): Promise<boolean> {
  const deadline = performance.now() + LONGEST_WAIT
  while (performance.now() < deadline) {
    if (await isSo()) return true
    await Bun.sleep(interval)
  }
  return false
}

/**
 * Counts what the server writes from now on. To ask it ten times a second how far it is would cost it as much as what is
 * watched: it goes over all rows of the log that come before the one which is asked for.
 */
class LinesToCome {
  private from: number
  private counted = 0

  constructor(
    private readonly server: Pick<ServerProcess, "log">,
    private readonly text: string,
  ) {
    this.from = server.log().length
  }

  come(): number {
    const log = this.server.log()
    for (let at = log.indexOf(this.text, this.from); at !== -1; at = log.indexOf(this.text, this.from)) {
      this.counted++
      this.from = at + this.text.length
    }
    return this.counted
  }
}
