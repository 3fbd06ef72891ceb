// A database with more entries than fit into one chunk or one piece, written by SQL because changes take far longer.

import { LATEST_TIME } from "../../src/core/clock.ts"
import { LibsqlStore } from "../../src/store/libsql-store.ts"
import { editedCopy, temporaryPaths } from "../support/temp-store.ts"
import { NOW } from "./changes.ts"

/**
 * How many entries of each list and family, at the addresses 0, 1, 2 and so on. One count is a whole chunk, after which an
 * empty one comes; another is a chunk and one entry more.
 */
export const LARGE = [
  ["perm", 4, 50_000],
  ["perm", 6, 3],
  ["temp", 4, 1],
  ["temp", 6, 50_001],
] as const

/** The networks of a list, in its order, as the canonical text that stands in the rows. */
export function largeList(asked: "perm" | "temp"): string[] {
  return LARGE.filter(([list]) => list === asked).flatMap(([, family, count]) =>
    Array.from({ length: count }, (_, i) =>
      family === 4 ? `0.0.${i >> 8}.${i & 255}` : i === 0 ? "::" : `::${i.toString(16)}`,
    ),
  )
}

/** Makes the database when it is first asked for; each test works on a copy. */
export function largeDatabase(): () => Promise<string> {
  const newPath = temporaryPaths()
  let made: Promise<string> | undefined
  return () => {
    made ??= make(newPath)
    return made
  }
}

async function make(newPath: () => string): Promise<string> {
  const path = newPath()
  const store = new LibsqlStore({ path, auditRows: 10 })
  await store.open(NOW)
  await store.close()
  return editedCopy(path, newPath, LARGE.map(insertion))
}

function insertion([list, family, count]: (typeof LARGE)[number]): string {
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${count})`
  const key = `unhex(printf('${family === 4 ? "04%08X20" : "06%032X80"}', i))`
  const ip = family === 4 ? "printf('0.0.%d.%d', i >> 8, i & 255)" : "iif(i = 0, '::', printf('::%x', i))"
  return list === "perm"
    ? `${numbers} INSERT INTO permanent (key, ip) SELECT ${key}, ${ip} FROM n`
    : `${numbers} INSERT INTO temporary (key, ip, expires_at) SELECT ${key}, ${ip}, ${LATEST_TIME} FROM n`
}
