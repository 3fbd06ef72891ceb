// A group of changes inside the transaction that is open: what each does to the lists, and the audit rows of them all.

import { type Change, hasTakenEffect, type Outcome } from "../core/change.ts"
import { GateError } from "../core/errors.ts"
import type { Connection } from "./connection.ts"
import { auditRowsOf, listStatements } from "./statements.ts"
import type { Committed } from "./store.ts"

/**
 * Makes the changes in their order. Each that takes effect gets one audit row, and all of these are written as one
 * statement: apart, the row would cost twice what its change costs. `before` is the id of the newest row there is.
 * Throws what the database reports, and `failed` if the ids of the rows do not follow each other from there on.
 */
export function writeChanges(connection: Connection, before: number, changes: readonly Change[]): Committed {
  const outcomes: Outcome[] = []
  const effective: Change[] = []
  for (const change of changes) {
    const { statements, outcomeOf } = listStatements(change)
    const outcome = outcomeOf(statements.map((statement) => connection.execute(statement).rowsAffected))
    outcomes.push(outcome)
    if (hasTakenEffect(outcome)) effective.push(change)
  }
  const after = before + effective.length
  if (effective.length > 0) {
    const { lastId } = connection.execute(auditRowsOf(effective))
    if (lastId !== after) {
      throw new GateError("failed", "database failure: the audit log does not go on where it ended", {
        cause: new Error(`the newest record is ${lastId} in place of ${after}`),
      })
    }
  }
  return { before, after, outcomes }
}
