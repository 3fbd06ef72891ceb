// Does what somebody has asked for, and says in one line what came of it.

import { formatDuration } from "../../src/core/duration.ts"
import { GateError } from "../../src/core/errors.ts"
import type { Gate } from "../../src/core/gate.ts"
import type { Network } from "../../src/core/network.ts"
import { shortTime } from "../times.ts"
import type { News, Task } from "./model.ts"

export type ServerTask = Exclude<Task, { kind: "quit" | "redraw" }>

/**
 * What was done is told also where a later part of it failed. Never rejects for what the server says; whatever else goes
 * wrong is a fault of this program.
 */
export async function perform(gate: Gate, task: ServerTask): Promise<News> {
  let told = ""
  try {
    for await (const text of parts(gate, task)) told += text
    return { kind: "done", text: told }
  } catch (error) {
    if (!(error instanceof GateError)) throw error
    const before = told === "" ? `${task.network}: ` : `${told}, but then: `
    return { kind: "failed", text: before + error.message }
  }
}

/** Does one part after the other, and tells of each when it is done. */
async function* parts(gate: Gate, task: ServerTask): AsyncGenerator<string> {
  const { network } = task
  switch (task.kind) {
    case "allow": {
      const { ttlSeconds, reason } = task
      const { result, expiresAt } = await gate.addTemporary({ network, ttlSeconds, reason })
      const instead = result === "replaced" ? ", in place of the earlier lifetime" : ""
      yield `allowed ${network} until ${shortTime(expiresAt)} (${formatDuration(ttlSeconds)})${instead}`
      return
    }
    case "remove": {
      const isRemoved = (await gate.removeTemporary(network)) === "removed"
      yield isRemoved
        ? `removed ${network} from the temporary list`
        : `${network} was not on the temporary list any more`
      yield await stillAllowed(gate, network)
      return
    }
    case "make-permanent": {
      const isNew = await addPermanent(gate, network)
      yield isNew ? `allowed ${network} permanently` : `${network} was already allowed permanently`
      await gate.removeTemporary(network)
    }
  }
}

/** False if it is there already. */
async function addPermanent(gate: Gate, network: Network): Promise<boolean> {
  try {
    await gate.addPermanent(network)
    return true
  } catch (error) {
    if (error instanceof GateError && error.code === "conflict") return false
    throw error
  }
}

/** What else lets it in, so that nobody thinks it is out when it is not. */
async function stillAllowed(gate: Gate, network: Network): Promise<string> {
  const [match] = (await gate.check(network)).matches
  if (match === undefined) return ""
  return `; it is still allowed by ${match.list === "perm" ? "permanent" : "temporary"} ${match.ip}`
}
