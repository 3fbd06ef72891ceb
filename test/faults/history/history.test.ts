// Histories: clients at work, a server that is killed and a disk that fails, and a checker that says whether it can have been so.

import { expect, setDefaultTimeout, test } from "bun:test"
import { type ServerProcess, Workplace } from "../../support/binary.ts"
import { Prng } from "../../support/prng.ts"
import type { AuditRow } from "../../support/running-server.ts"
import { fault } from "../fault.ts"
import { rounds } from "../rounds.ts"
import { tally } from "../tally.ts"
import { ADDRESSES, Client, PERMANENT, Recording, TEMPORARY, valuesOf } from "./clients.ts"
import { PASSING, pass } from "./faults.ts"
import { isExplained, type Row, type Value } from "./model.ts"

setDefaultTimeout(1_800_000)

const CLIENTS = 4
/** Milliseconds: of a fault that passes, and of quiet work before and after it. */
const LONGEST_FAULT = 400
const LONGEST_QUIET = 250

/** How often, and after how many milliseconds, the state is read again because an entry ended meanwhile. */
const READINGS = 100
const READ_AGAIN_AFTER = 20

type State = { readonly values: ReadonlyMap<string, Value>; readonly records: number }
type Read = State & { readonly log: AuditRow[] }

/** One server's life among its clients, from its start to its end; the next one tells what is left. */
async function life(place: Workplace, server: ServerProcess, random: Prng, name: string): Promise<Recording> {
  const recording = new Recording()
  const end = new AbortController()
  const clients = Array.from({ length: CLIENTS }, (_, i) =>
    new Client(server.url, `${name}.${i}`, new Prng(random.word()), recording).work(end.signal),
  )
  await Bun.sleep(random.below(LONGEST_QUIET))
  await pass(random.pick(PASSING), server, place.database, random.below(LONGEST_FAULT))
  await Bun.sleep(random.below(LONGEST_QUIET))
  if (random.below(10) === 0) {
    expect(await server.stop()).toBe(0)
  } else {
    await server.kill()
    tally("crashCycles", 1)
  }
  end.abort()
  await Promise.all(clients)
  return recording
}

/**
 * The lists and the log of one moment. Several requests read them, and an entry that ends between two of them is on the
 * list and ended in the log, or has left the list and is not in the log yet. What stays so is for the checker to find.
 */
async function stateOf(server: ServerProcess): Promise<Read> {
  let state = await readState(server)
  for (let i = 0; i < READINGS && isAtAnEnd(state); i++) {
    await Bun.sleep(READ_AGAIN_AFTER)
    state = await readState(server)
  }
  return state
}

async function readState(server: ServerProcess): Promise<Read> {
  const permanent = await server.read<Array<{ ip: string }>>("/api/whitelist/perm/list")
  const temporary =
    await server.read<Array<{ ip: string; reason: string; expires: string }>>("/api/whitelist/temp")
  const log: AuditRow[] = []
  for (let page: AuditRow[] = []; log.length === 0 || page.length === 1000; log.push(...page)) {
    page = await server.read<AuditRow[]>(`/api/logs?limit=1000&offset=${log.length}`)
    if (page.length === 0) break
  }
  return { values: valuesOf([...permanent, ...temporary]), records: log.length, log: log.reverse() }
}

function isAtAnEnd({ values, log }: Read): boolean {
  return TEMPORARY.some((ip) => {
    const last = log.findLast((record) => record.ip === ip)
    if (last === undefined) return false
    const hasEnded = last.action === "expire_temp" || toRow(last).until <= Date.now()
    return hasEnded && values.has(ip) === (last.action === "expire_temp")
  })
}

/** What cannot have happened in the time between two states. */
function faultsOf(recording: Recording, before: State, after: State, records: readonly AuditRow[]): string[] {
  const faults: string[] = []
  for (const ip of ADDRESSES) {
    const history = {
      list: PERMANENT.includes(ip) ? ("perm" as const) : ("temp" as const),
      before: before.values.get(ip) ?? null,
      operations: recording.operations.get(ip) ?? [],
      rows: records.filter((record) => record.ip === ip).map(toRow),
      after: after.values.get(ip) ?? null,
    }
    if (!isExplained(history)) faults.push(`${ip}: no order explains ${JSON.stringify(history)}`)
  }
  for (const { reason, addresses } of recording.imports) {
    const written = records.filter((record) => record.reason === reason).map(({ ip }) => ip)
    if (written.length !== 0 && written.toSorted().join() !== addresses.toSorted().join()) {
      faults.push(`an import was written by half: ${written.join()}`)
    }
  }
  for (const { ip, action } of records) {
    if (ip === null || !ADDRESSES.includes(ip)) faults.push(`nobody asked for ${action} ${ip}`)
  }
  return faults
}

function toRow({ action, reason, timestamp, ttl_seconds }: AuditRow): Row {
  const at = Date.parse(timestamp)
  return {
    action: action as Row["action"],
    reason: action === "add_temp" ? reason : null,
    until:
      action === "add_temp"
        ? at + (ttl_seconds ?? 0) * 1000
        : action === "expire_temp"
          ? at
          : Number.POSITIVE_INFINITY,
  }
}

/** What a server decides, against its lists: memory and file must agree after every start. */
async function decisionsOf(server: ServerProcess): Promise<boolean[]> {
  const answers = await Promise.all(ADDRESSES.map((ip) => server.decision(ip.replace("::/64", "::9"))))
  return answers.map((status) => status === 204)
}

test(
  fault(
    "D-01 D-05 D-06 D-12 P-07",
    "clients at work while the server is killed, stopped and started, and while writes and fsyncs fail or the disk is full",
    "some order of what happened explains every answer, both lists, and one record for each change",
  ),
  async () => {
    const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32))
    const random = new Prng(seed)
    await using place = await Workplace.make()
    let server = await place.serve()
    let before: State = await stateOf(server)
    let answered = 0
    for (let round = 0; round < rounds(22, 222); round++) {
      const recording = await life(place, server, random, `${seed}.${round}`)
      server = await place.serve()
      const { log, ...after } = await stateOf(server)
      const faults = faultsOf(recording, before, after, log.slice(before.records))
      const decided = await decisionsOf(server)
      ADDRESSES.forEach((ip, i) => {
        const value = after.values.get(ip) ?? null
        // A short entry may end between the two questions.
        const mayHaveEnded = value !== null && value.until < Date.now() + 20
        if (decided[i] !== (value !== null) && !mayHaveEnded) faults.push(`${ip}: /auth against the lists`)
      })
      // Whole, which an expectation does not show.
      for (const one of faults) console.error(one)
      tally("lost", faults.length)
      tally("decisionsCompared", recording.decisions + ADDRESSES.length)
      expect({ TEST_SEED: seed, round, faults }).toEqual({ TEST_SEED: seed, round, faults: [] })
      before = after
      answered += recording.answered
    }
    console.log(`TEST_SEED=${seed}: ${answered} answered operations, ${before.records} records`)
    expect(answered).toBeGreaterThan(1_000)
  },
)
