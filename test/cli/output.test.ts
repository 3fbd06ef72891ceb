// What a command prints, apart from any command.

import { expect, test } from "bun:test"
import { Output } from "../../cli/output.ts"

test("a table has as many rows as there are, each column as wide as its widest cell", () => {
  const rows = 1_000_000
  let lines = 0
  let widest = 0
  const write = (text: string) => {
    lines++
    widest = Math.max(widest, text.length)
  }
  const out = new Output({ write, writeError: () => {}, json: false, quiet: false })
  out.table(
    ["IP", "LIST"],
    Array.from({ length: rows }, (_, i) => [i === 7 ? "203.0.113.77" : "192.0.2.1", "perm"]),
  )
  expect([lines, widest]).toEqual([rows + 1, "203.0.113.77  perm\n".length])
}, 30_000)
