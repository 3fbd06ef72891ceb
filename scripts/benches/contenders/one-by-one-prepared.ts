// The same as one-by-one.ts, by the driver below the client and with statements that are prepared once.
// Arguments: the database file and the seconds. Prints one line of JSON.

import Database from "libsql"
import { MIGRATIONS } from "../../../src/store/schema.ts"

const [path = "", seconds = "1"] = process.argv.slice(2)
const database = new Database(path)
database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
const count = (table: string) =>
  Number((database.prepare(`SELECT count(*) AS count FROM ${table}`).get() as { count: number }).count)
if (count("sqlite_schema") === 0) database.exec(MIGRATIONS.flat().join(";"))
const before = count("permanent")
const [begin, log, add, commit] = [
  database.prepare("BEGIN IMMEDIATE"),
  database.prepare("INSERT INTO audit (at, action, ip, actor) VALUES (?, 'add_perm', ?, '127.0.0.1')"),
  database.prepare("INSERT INTO permanent (key, ip) VALUES (?, ?)"),
  database.prepare("COMMIT"),
]

const until = performance.now() + Number(seconds) * 1000
const startedAt = performance.now()
let adds = 0
while (performance.now() < until) {
  const number = before + adds++
  const ip = `${1 + (number >> 24)}.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
  const key = new Uint8Array([4, ...ip.split(".").map(Number), 32])
  begin.run()
  log.run([Date.now(), ip])
  add.run([key, ip])
  commit.run()
}
console.log(JSON.stringify({ adds, seconds: (performance.now() - startedAt) / 1000 }))
database.close()
