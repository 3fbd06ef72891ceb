// The API token at rest: in a file that only its owner (and perhaps its group) can read.

import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs"
import { dirname } from "node:path"
import { randomSecret } from "./random-secret.ts"

export const SHORTEST_TOKEN = 32
const OTHERS = 0o007
const FORM = `a line holds one token of at least ${SHORTEST_TOKEN} characters: openssl rand -hex 32 makes one`

/** The token file cannot be used: missing, empty, too short, or open to everybody. */
export class TokenError extends Error {
  override readonly name = "TokenError"

  /** What to do next, where it is not simply another token file. */
  readonly hint: string | undefined

  constructor(message: string, options: { cause?: unknown; hint?: string } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.hint = options.hint
  }
}

/**
 * The tokens in a file, one a line: several while one replaces another. Throws `TokenError` unless the file is there,
 * is closed to others, and holds only tokens of 32 or more printable characters without spaces.
 */
export function readTokenFile(path: string): string[] {
  let content: string
  let mode: number
  try {
    mode = statSync(path).mode
    content = readFileSync(path, "utf8")
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === "EACCES") {
      throw new TokenError(`the token file ${path} may not be read by this user`, {
        cause,
        hint: "use sudo, or join the group of the file (ipgate) and log in again; or give another with --token-file",
      })
    }
    const why = code === "ENOENT" ? "does not exist" : "cannot be read"
    throw new TokenError(`the token file ${path} ${why}`, { cause })
  }
  // What is in the file comes first: whoever has named another one by mistake must not be told to close it to others.
  const tokens = content.split(/\r?\n/).filter((line) => line !== "")
  if (tokens.length === 0) throw new TokenError(`the token file ${path} is empty`, { hint: FORM })
  for (const token of tokens) checkToken(token, `the token file ${path}`)
  refuseOpen(path, mode)
  return tokens
}

/**
 * Throws `TokenError` for a file that is open to others. One that this user cannot see is good: under systemd the tokens
 * come in a copy of it, whose mode says nothing about the file itself.
 */
export function refuseOpenTokenFile(path: string): void {
  let mode: number
  try {
    mode = statSync(path).mode
  } catch {
    return
  }
  refuseOpen(path, mode)
}

function refuseOpen(path: string, mode: number): void {
  if ((mode & OTHERS) === 0) return
  throw new TokenError(
    `the token file ${path} is open to other users: chmod 0640 ${path}, and make a new token`,
    { hint: FORM },
  )
}

/** Throws `TokenError` for text that is no token. The message names the place and never the token. */
export function checkToken(token: string, where: string): void {
  if (token.length < SHORTEST_TOKEN) {
    throw new TokenError(`${where} holds a token of fewer than ${SHORTEST_TOKEN} characters`, { hint: FORM })
  }
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new TokenError(`${where} holds a token with spaces or special characters`, { hint: FORM })
}

// Whole and on the disk before it has its name: what a full disk or a power cut left half-made would be refused for good.
function writeWhole(path: string, content: string): void {
  const workshop = mkdtempSync(`${path}.new-`)
  const draft = `${workshop}/api-token`
  try {
    const file = openSync(draft, "wx", 0o600)
    try {
      writeSync(file, content)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    linkSync(draft, path)
  } finally {
    rmSync(workshop, { recursive: true, force: true })
  }
}

/** What no second attempt makes better. */
const NOT_ALLOWED = ["EACCES", "EPERM", "EROFS", "ENOTDIR"]

/** Makes a file with one new token of 256 random bits, mode 0600, unless the file exists. True if it was made. Throws `TokenError` if this user may not. */
export function makeTokenFile(path: string): boolean {
  if (existsSync(path)) return false
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeWhole(path, `${randomSecret()}\n`)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === undefined || !NOT_ALLOWED.includes(code)) throw cause
    throw new TokenError(`the token file ${path} cannot be made: ${code}`, {
      cause,
      hint: "name places that this user may write to with --token-file and --db, or set HOME",
    })
  }
  return true
}
