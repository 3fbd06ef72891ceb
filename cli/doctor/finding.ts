// What the doctor has found wrong, and the line that puts it right.

/** A fault that makes the gate useless, or a promise that could not be proven. */
export type Finding = {
  /** A word for programs; each has a meaning of its own and stays. */
  readonly code: FindingCode
  /** The families that it was seen over; none if it has nothing to do with them. */
  readonly over: readonly ("IPv4" | "IPv6")[]
  readonly message: string
  /** What to change, a line each. */
  readonly change: readonly string[]
}

export type FindingCode =
  // of a chain
  | "already-allowed"
  | "cached"
  | "error-page"
  | "forged"
  | "header-reaches-gate"
  | "no-address"
  | "not-asked"
  | "other-address"
  | "redirects"
  | "yes-not-taken"
  // of an installation
  | "clock"
  | "database"
  | "listener"
  | "permissions"
  | "server"
  | "temporary-directory"
  | "token"

/** The same finding over both families becomes one. */
export function merged(findings: readonly Finding[]): Finding[] {
  const all = new Map<string, Finding>()
  for (const finding of findings) {
    const key = JSON.stringify([finding.code, finding.message, finding.change])
    const known = all.get(key)
    all.set(key, known === undefined ? finding : { ...known, over: [...known.over, ...finding.over] })
  }
  return [...all.values()]
}
