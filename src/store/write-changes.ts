// A group of changes inside the transaction that is open: what each does to the lists, and the audit rows of them all.

import { type Change, hasTakenEffect, type Outcome } from "../core/change.ts"
import type { Connection } from "./connection.ts"
import { auditRowsOf, listStatements } from "./statements.ts"
import type { Committed } from "./store.ts"

/**
 * Makes the changes in their order. Each that takes effect gets one audit row, and all of these are written as one
 * statement: apart, the row would cost twice what its change costs. `before` is the id of the newest row there is.
 * Throws what the database reports, and an error that leaves doubt if the rows do not follow that one.
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
    // The lists have no row ids, and a trigger's are not told, so this is the id of the last audit row.
    const { lastId } = connection.execute(auditRowsOf(effective))
    if (lastId !== after) throw new Error(`the newest record is ${lastId} in place of ${after}`)
  }
  return { before, after, outcomes }
}
