// /auth itself: requests a second and processor time a request, beside the empty handlers and nginx.

import { readFileSync } from "node:fs"
import { type Contender, startContenders } from "../auth-contenders.ts"
import { tellAuth } from "../auth-figures.ts"
import { fate } from "../fate.ts"
import { judgeTurn } from "../judge-turn.ts"
import type { Lab } from "../lab.ts"
import type { Report } from "../report.ts"
import { type Turn, turn } from "../wrk.ts"
import { wrongDecision } from "../wrong-decision.ts"
import { largeDatabase } from "./bulk.ts"

const CONNECTIONS = 32
/** Clients that each contender is asked for before and after its turns. */
const LOOKS = 3

export async function measureAuth(lab: Lab, report: Report): Promise<void> {
  const { database, entries } = await largeDatabase(lab, report)
  report.section("/auth")
  if (lab.programs.wrk === null) return
  const contenders = await startContenders(lab, report, database, entries)
  await look(report, contenders, "before the turns")
  const turns = await takeTurns(lab, report, contenders)
  await look(report, contenders, "after the turns")
  tellAuth(report, contenders, turns, CONNECTIONS)
}

/** In the turns that are measured wrk tells a 200 or a 302 from a 204 only here. */
async function look(report: Report, contenders: readonly Contender[], when: string): Promise<void> {
  for (const contender of contenders) {
    const { name, clientsText, url, clients, status } = contender
    for (const client of readFileSync(clients.file, "utf8").split("\n", LOOKS)) {
      const wrong = await wrongDecision(url, client, status)
      if (wrong === null) continue
      report.wrongAnswer(`${name}, ${clientsText}, ${when}: ${wrong}; ${await fate(contender)}`)
      break
    }
  }
}

/** In each round everybody has a turn; a first, short round warms up and is thrown away. */
async function takeTurns(
  lab: Lab,
  report: Report,
  contenders: readonly Contender[],
): Promise<Map<Contender, Turn[]>> {
  const { rounds, turnSeconds, warmUpSeconds } = lab.plan
  const turns = new Map<Contender, Turn[]>(contenders.map((contender) => [contender, []]))
  const lengths = [
    ...(warmUpSeconds > 0 ? [warmUpSeconds] : []),
    ...new Array<number>(rounds).fill(turnSeconds),
  ]
  for (const [round, seconds] of lengths.entries()) {
    for (const contender of contenders) {
      // Another place of the file in each round, so that no client comes again soon.
      const taken = await takeTurn(lab, contender, seconds, round / lengths.length, round === 0)
      const { name, clientsText, status } = contender
      const wrong = judgeTurn(taken, status)
      if (wrong !== null) report.wrongAnswer(`${name}, ${clientsText}: ${wrong}`)
      if (warmUpSeconds === 0 || round > 0) turns.get(contender)?.push(taken)
    }
  }
  return turns
}

async function takeTurn(
  lab: Lab,
  contender: Contender,
  seconds: number,
  start: number,
  countsStatuses: boolean,
): Promise<Turn> {
  const { name, clientsText, url, servers, clients, status } = contender
  try {
    return await turn(lab, {
      url: `${url}/auth`,
      script: "load.lua",
      args: [clients.file, String(clients.held), String(start), String(countsStatuses ? status : 0)],
      connections: CONNECTIONS,
      seconds,
      servers,
    })
  } catch (error) {
    throw new Error(`${name}, ${clientsText}: ${(error as Error).message}; ${await fate(contender)}`)
  }
}
