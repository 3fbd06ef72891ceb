// Durable adds through bare libSQL, one after the other: an entry and its audit row in one transaction, the same PRAGMAs.
// Arguments: the database file and the seconds. Prints one line of JSON.

import { createClient } from "@libsql/client/sqlite3"
import { MIGRATIONS } from "../../../src/store/schema.ts"

const [path = "", seconds = "1"] = process.argv.slice(2)
const client = createClient({ url: `file:${path}`, concurrency: 1 })
await client.execute("PRAGMA locking_mode = EXCLUSIVE")
await client.execute("PRAGMA journal_mode = WAL")
await client.execute("PRAGMA synchronous = FULL")
const tables = (await client.execute("SELECT count(*) AS count FROM sqlite_schema")).rows[0]?.count
if (tables === 0) await client.batch(MIGRATIONS.flat(), "write")
const before = Number((await client.execute("SELECT count(*) AS count FROM permanent")).rows[0]?.count)

const until = performance.now() + Number(seconds) * 1000
const startedAt = performance.now()
let adds = 0
while (performance.now() < until) {
  const number = before + adds++
  const ip = `${1 + (number >> 24)}.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
  const key = new Uint8Array([4, ...ip.split(".").map(Number), 32])
  await client.batch(
    [
      {
        sql: "INSERT INTO audit (at, action, ip, actor) VALUES (?, 'add_perm', ?, '127.0.0.1')",
        args: [Date.now(), ip],
      },
      { sql: "INSERT INTO permanent (key, ip) VALUES (?, ?)", args: [key, ip] },
    ],
    "write",
  )
}
console.log(JSON.stringify({ adds, seconds: (performance.now() - startedAt) / 1000 }))
client.close()
