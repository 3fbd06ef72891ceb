// Which group a name means.

import { readFileSync } from "node:fs"

/** The number of a group of this machine, given by its number or by its name in `/etc/group`; `null` if none has the name. */
export function groupIdOf(group: string): number | null {
  if (/^[0-9]{1,9}$/.test(group)) return Number(group)
  const entries = readFileSync("/etc/group", "utf8").split("\n")
  const [, , id] = entries.map((line) => line.split(":")).find(([name]) => name === group) ?? []
  return id === undefined ? null : Number(id)
}
