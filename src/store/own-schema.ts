// The schema's text: in the file it is only bytes, and one that is changed makes another rule of a CHECK or of a column.

import { Connection } from "./connection.ts"
import { MIGRATIONS } from "./schema.ts"

// In hexadecimal digits, because the driver ends the process at a text that is no UTF-8. Without the trigger that is made
// anew at each opening, and holds the number of rows that the log of that time kept.
const SCHEMA = `SELECT hex(type) || ' ' || hex(name) || ' ' || hex(tbl_name) || ' ' || typeof(sql) || ' ' || hex(sql) AS line
  FROM sqlite_schema WHERE type IS NOT 'trigger' OR name IS NOT 'audit_rotation'`

const TRIGGER = `${Buffer.from("trigger").toString("hex").toUpperCase()} `

/**
 * Whether a database has the schema that the migrations up to this version make, to the letter. A table or an index
 * beside it is somebody's own; a trigger would have a say in what is written.
 */
export function hasOwnSchema(connection: Connection, version: number): boolean {
  const made = Connection.inMemory()
  try {
    made.batch(MIGRATIONS.slice(0, version).flat())
    const own = schemaOf(made)
    const found = schemaOf(connection)
    return own.every((line) => found.includes(line)) && !found.some((line) => line.startsWith(TRIGGER))
  } finally {
    made.close()
  }
}

function schemaOf(connection: Connection): string[] {
  return connection.execute(SCHEMA).rows.map(({ line }) => String(line))
}
