// Inserts the member of a large JSON text, as an import does, where the system gives memory for only so many copies of
// the text as the argument says. Prints what became of it.

import { readFileSync } from "node:fs"
import { Connection, DatabaseError } from "../../src/store/connection.ts"

const MEBIBYTE = 1 << 20
const LENGTH = 64 * MEBIBYTE

const connection = Connection.inMemory()
connection.execute("CREATE TABLE t (s TEXT)")
const insert = (text: string) =>
  connection.execute({ sql: "INSERT INTO t SELECT value FROM json_each(?)", args: [text] }).rowsAffected
const large = `["${"a".repeat(LENGTH)}"]`
if (insert('["b"]') !== 1) throw new Error("the statement inserts nothing")

const [, kibibytes] = /^VmData:\s+([0-9]+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? []
const limit = Number(kibibytes) * 1024 + LENGTH * Number(process.argv[2])
const { exitCode } = Bun.spawnSync(["prlimit", "--pid", String(process.pid), `--data=${limit}`])
if (exitCode !== 0) throw new Error("the limit could not be set")
try {
  console.log(`inserted ${insert(large)}`)
} catch (cause) {
  console.log(cause instanceof DatabaseError ? cause.code : String(cause))
}
