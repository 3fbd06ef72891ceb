// The rows of a JSON file: the items of its array.

import { quoted } from "../../src/core/printable.ts"
import { nearestName } from "../../src/nearest-name.ts"
import { COLUMNS } from "./bulk-format.ts"
import { itemsOf } from "./json-items.ts"
import type { Cells, Row } from "./row.ts"

type Member = { readonly column: keyof Cells; readonly mayBeNumber: boolean }

/** By name. The columns have other names where the API takes or tells them. */
const MEMBERS: ReadonlyMap<string, Member> = new Map([
  ["ip", { column: "ip", mayBeNumber: false }],
  ["list", { column: "list", mayBeNumber: false }],
  ["ttl", { column: "ttl", mayBeNumber: true }],
  ["ttl_seconds", { column: "ttl", mayBeNumber: true }],
  ["expires", { column: "expires", mayBeNumber: true }],
  ["expires_at", { column: "expires", mayBeNumber: true }],
  ["reason", { column: "reason", mayBeNumber: false }],
])

export function* jsonRows(text: string): Generator<Row> {
  let number = 0
  for (const item of itemsOf(text)) yield { number: ++number, cells: cellsOf(item) }
}

/** What is not understood is a fault: passed over, a misspelt lifetime would let somebody in for good. */
function cellsOf(item: unknown): Cells | string {
  if (typeof item === "string") return { ip: item }
  if (typeof item !== "object" || item === null || Array.isArray(item)) {
    return `an entry is an address, or an object with ip, and not ${kindOf(item)}`
  }
  const cells: Cells = {}
  for (const [name, value] of Object.entries(item)) {
    const member = MEMBERS.get(name)
    if (member === undefined) return explainMember(name)
    if (value === null) continue
    const { column, mayBeNumber } = member
    if (typeof value !== "string" && !(mayBeNumber && typeof value === "number")) {
      return `${name} must be a text${mayBeNumber ? " or a number" : ""}, and not ${kindOf(value)}`
    }
    if (cells[column] !== undefined) return `${column} is there twice, under two names: leave one out`
    cells[column] = String(value)
  }
  return cells.ip === undefined ? "ip is missing" : cells
}

function explainMember(name: string): string {
  const meant = nearestName(name.toLowerCase(), [...MEMBERS.keys()])
  const hint = meant === null ? `, which has ${COLUMNS.join(", ")}` : `; did you mean ${meant}?`
  return `${quoted(name)} is no member of an entry${hint}`
}

function kindOf(value: unknown): string {
  if (value === null || typeof value === "boolean") return String(value)
  if (typeof value === "number") return "a number"
  if (typeof value === "string") return "a text"
  return Array.isArray(value) ? "an array" : "an object"
}
