// The database's own rules: numbered migrations, strict tables, and the rotation of the log.

import { AUDIT_CHECKS } from "./audit-checks.ts"

/** Written into the file's header, so that another program's database is recognised: "ipgt". */
export const APPLICATION_ID = 0x69706774

// A key begins with its family, which goes with one size only.
const KEY =
  "(length(key) = 6 AND substr(key, 1, 1) = x'04') OR (length(key) = 18 AND substr(key, 1, 1) = x'06')"

// The keys of both lists sort as the lists do. The text beside the key is for people with an SQL shell.
const CREATE_LISTS = [
  `CREATE TABLE permanent (
     key BLOB NOT NULL PRIMARY KEY CHECK (${KEY}),
     ip TEXT NOT NULL
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE temporary (
     key BLOB NOT NULL PRIMARY KEY CHECK (${KEY}),
     ip TEXT NOT NULL,
     expires_at INTEGER NOT NULL CHECK (expires_at BETWEEN 0 AND 253402300799999),
     reason TEXT
   ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX temporary_by_expiry ON temporary (expires_at, key)",
]

const CREATE_AUDIT = [
  `CREATE TABLE audit (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     at INTEGER NOT NULL CHECK (${AUDIT_CHECKS.at}),
     action TEXT NOT NULL
       CHECK (${AUDIT_CHECKS.action}),
     ip TEXT,
     ttl_seconds INTEGER CHECK (${AUDIT_CHECKS.ttlSeconds}),
     reason TEXT,
     actor TEXT
   ) STRICT`,
]

// Of a token the database knows no more than the SHA-256 of its secret.
const CREATE_TOKENS = [
  `CREATE TABLE tokens (
     name TEXT NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 64),
     digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
     scope TEXT NOT NULL CHECK (scope IN ('read', 'write', 'temp-only', 'self')),
     max_ttl_seconds INTEGER CHECK (max_ttl_seconds BETWEEN 1 AND 315360000),
     within TEXT CHECK (within IS NULL OR scope = 'temp-only'),
     created_at INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 253402300799999),
     expires_at INTEGER CHECK (expires_at BETWEEN 0 AND 253402300799999),
     last_used_at INTEGER,
     revoked_at INTEGER,
     CHECK ((max_ttl_seconds IS NULL) = (scope IN ('read', 'write')))
   ) STRICT, WITHOUT ROWID`,
  "ALTER TABLE audit ADD COLUMN token TEXT",
]

/**
 * The statements of each schema version, in order; a database that has applied the first n has `user_version` n.
 * A migration that was released never changes: a correction is a new one.
 */
export const MIGRATIONS: ReadonlyArray<readonly string[]> = [
  [...CREATE_LISTS, ...CREATE_AUDIT],
  CREATE_TOKENS,
]

/** Marks a database as ours, of this version. */
export const VERSION_STAMP: readonly string[] = [
  `PRAGMA application_id = ${APPLICATION_ID}`,
  `PRAGMA user_version = ${MIGRATIONS.length}`,
]

/**
 * The trigger that cuts the log: part of the database, so that no writer can forget it. It is made anew at every
 * opening, so that it always holds the number of rows that this version keeps.
 */
export function rotationTrigger(rows: number): readonly string[] {
  return [
    "DROP TRIGGER IF EXISTS audit_rotation",
    `CREATE TRIGGER audit_rotation AFTER INSERT ON audit BEGIN
       DELETE FROM audit WHERE id <= NEW.id - ${Math.trunc(rows)};
     END`,
  ]
}
