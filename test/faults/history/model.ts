// The model of one entry, and the search for an order of the operations on it that explains everything that was seen.

/** What a list holds under one address; `until` is `Infinity` on the permanent list. */
export type Value = { readonly reason: string | null; readonly until: number } | null

/** A record of the log. `until` is when the entry ends that `add_temp` tells of, and when one ended by `expire_temp`. */
export type Row = {
  readonly action: "add_perm" | "delete_perm" | "add_temp" | "delete_temp" | "expire_temp"
  readonly reason: string | null
  readonly until: number
}

/** What was asked for. `result` is what the answer said, or `null` if it said nothing. */
export type Asked =
  | { readonly kind: "add"; readonly reason: string | null; readonly result: string | null }
  | { readonly kind: "remove"; readonly result: string | null }
  | { readonly kind: "ask"; readonly result: boolean }
  | { readonly kind: "read"; readonly result: Value | "absent" }

/**
 * An operation on one address. `answered` is `Infinity` if nobody knows whether it took effect: it may have, at any
 * moment after `asked`, or never. Times are milliseconds of the wall clock.
 */
export type Operation = Asked & { readonly asked: number; readonly answered: number }

/** Everything about one address between two moments at which nothing was under way. */
export type History = {
  readonly list: "perm" | "temp"
  readonly before: Value
  readonly operations: readonly Operation[]
  readonly rows: readonly Row[]
  readonly after: Value
}

/** Milliseconds by which two clocks of one machine may be read apart from each other. */
const SLACK = 20

/**
 * True if the operations can be put into one order that keeps to their times, in which each has the result that was
 * seen, each that changed something wrote exactly the next record, and the last state is the one that was found. A
 * search after Wing and Gong: what could be next is tried, and no state twice. Two rules keep it small. What is known
 * to change nothing is done as soon as it can be, because waiting could not help it. And of unanswered changes that are alike the
 * first is tried alone, because it may come wherever another may.
 */
export function isExplained({ list, before, operations, rows, after }: History): boolean {
  const at = (i: number) => operations[i] as Operation
  const seen = new Set<string>()

  /** `since` is a moment that has come: nothing that was answered before it can follow. */
  const search = (left: readonly number[], written: number, value: Value, since: number): boolean => {
    const row = rows[written]
    const candidates = (open: readonly number[]) => {
      const firstAnswer = Math.min(...open.map((i) => at(i).answered))
      return open.filter((i) => at(i).asked <= firstAnswer && at(i).answered >= since - SLACK)
    }
    let open = left
    for (;;) {
      const idle = candidates(open).filter(
        (i) => at(i).result !== null && stepOf(list, at(i), value, row)?.rows === 0,
      )
      if (idle.length === 0) break
      open = open.filter((i) => !idle.includes(i))
    }
    const state = `${open.join()}|${written}|${since}|${value?.reason}|${value?.until}`
    if (seen.has(state)) return false
    seen.add(state)
    if (open.every((i) => isUnanswered(at(i))) && written === rows.length && isSame(value, after)) return true

    // The end of an entry is nobody's operation: it comes when the time has come, and only then.
    if (row?.action === "expire_temp" && value !== null && row.until <= value.until) {
      return search(open, written + 1, null, Math.max(since, value.until))
    }
    const tried = new Set<string>()
    return candidates(open).some((i) => {
      const operation = at(i)
      const step = stepOf(list, operation, value, row)
      const name = `${operation.kind} ${operation.kind === "add" ? operation.reason : ""}`
      if (step === null || (isUnanswered(operation) && (step.rows === 0 || tried.has(name)))) return false
      if (isUnanswered(operation)) tried.add(name)
      const rest = open.filter((other) => other !== i)
      return search(rest, written + step.rows, step.value, since)
    })
  }
  const inTime = [...operations.keys()].toSorted((a, b) => at(a).asked - at(b).asked)
  return search(inTime, 0, before, 0)
}

function isUnanswered({ answered }: Operation): boolean {
  return answered === Number.POSITIVE_INFINITY
}

/** What an operation does to a value, with how many rows; `null` if it cannot come here. */
function stepOf(
  list: "perm" | "temp",
  operation: Operation,
  value: Value,
  row: Row | undefined,
): { value: Value; rows: 0 | 1 } | null {
  const { kind, result } = operation
  switch (kind) {
    case "ask":
      return holds(operation, value, result) ? { value, rows: 0 } : null
    case "read":
      if (operation.result !== "absent" && !isSame(value, operation.result)) return null
      return holds(operation, value, result !== "absent") ? { value, rows: 0 } : null
    case "add": {
      const did = value === null ? "added" : list === "perm" ? "conflict" : "replaced"
      if (result !== null && result !== did) return null
      if (did === "conflict") return { value, rows: 0 }
      if (row?.action !== `add_${list}` || row.reason !== operation.reason) return null
      return { value: { reason: row.reason, until: row.until }, rows: 1 }
    }
    case "remove": {
      const did = value === null ? "absent" : "removed"
      if (result !== null && result !== did) return null
      if (did === "absent") return { value, rows: 0 }
      return row?.action === `delete_${list}` ? { value: null, rows: 1 } : null
    }
  }
}

/** Whether an entry can have let somebody in, or not have, at a moment within an operation. */
function holds({ asked, answered }: Operation, value: Value, isIn: boolean): boolean {
  if (value === null) return !isIn
  return isIn ? asked < value.until + SLACK : answered > value.until - SLACK
}

function isSame(one: Value, other: Value): boolean {
  return one?.reason === other?.reason && one?.until === other?.until
}
