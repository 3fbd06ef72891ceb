// Who reads the standard error of this process: the journal, a person, or a program.

import type { LogFormat } from "./log-formats.ts"

export type StreamFacts = {
  readonly isTerminal: boolean
  /** `$JOURNAL_STREAM`. */
  readonly journalStream: string | undefined
  /** `null` if the stream cannot be asked. */
  readonly file: { readonly dev: bigint; readonly ino: bigint } | null
}

/**
 * The form in which the reader takes its lines. systemd.exec(5): the stream is the journal only if its device and inode
 * are those of `$JOURNAL_STREAM`, because a process may inherit the variable and yet write somewhere else.
 */
export function formatFor({ isTerminal, journalStream, file }: StreamFacts): LogFormat {
  if (file !== null && journalStream === `${file.dev}:${file.ino}`) return "journal"
  return isTerminal ? "text" : "json"
}
