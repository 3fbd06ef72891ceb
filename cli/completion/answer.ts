// The answer to a shell that completes a line: what it offers, one candidate a line, and nothing at all if anything fails.

import type { Command } from "commander"
import { printable } from "../../src/core/printable.ts"
import type { CommandEnv } from "../command-env.ts"
import { NOTHING, type Offer } from "./candidate.ts"
import { offerEntries } from "./entries.ts"
import { type Line, readLine } from "./line.ts"
import { type Live, offer } from "./offer.ts"
import type { Shell } from "./shells.ts"
import { offerTokenNames } from "./token-names.ts"
import { unquoted } from "./unquoted.ts"

/** Milliseconds that somebody waits for the entries after pressing a key. */
export const DEADLINE = 300

/** `words` are those after the name of the program; the last one is the one at the cursor, up to it. */
export type Question = { readonly shell: Shell; readonly words: readonly string[] }

/**
 * Writes one line that says what follows (`words`, `partial`, `files` or `directories`), then the candidates, each
 * with a tab and its description if the shell shows one. Never rejects, asks for nothing, and opens no database.
 */
export async function answer(program: Command, env: CommandEnv, { shell, words }: Question): Promise<void> {
  // zsh and fish hand over what words mean; bash hands over what was typed, and fish so for the last one.
  const earlier = words.slice(0, -1).map((word) => (shell === "bash" ? unquoted(word) : word))
  const last = words.at(-1) ?? ""
  const current = shell === "zsh" ? last : unquoted(last)
  try {
    const line = readLine(program, earlier)
    print(await offer(line, current, liveOf(line, env)), shell, env)
  } catch {
    print(NOTHING, shell, env)
  }
}

function print(offered: Offer, shell: Shell, { process }: CommandEnv): void {
  process.write(`${offered.kind}\n`)
  if (!("candidates" in offered)) return
  for (const { text, description } of offered.candidates) {
    const shown = shell === "bash" || description === "" ? "" : `\t${printable(description)}`
    process.write(`${printable(text)}${shown}\n`)
  }
}

/** What the server that the line is about knows. The database itself is not opened: a server may want it. */
function liveOf({ program, given }: Line, { process, options, withGate, withTokens }: CommandEnv): Live {
  const inTime = async (ask: () => Promise<Offer>): Promise<Offer> => {
    for (const [option, [value]] of given) {
      if (program.options.includes(option)) program.setOptionValue(option.attributeName(), value ?? true)
    }
    if (options.offline) return NOTHING
    const late = process.sleep(DEADLINE).then(() => NOTHING)
    return Promise.race([ask(), late])
  }
  return {
    entries: (wanted) =>
      inTime(() => withGate((gate) => offerEntries(gate, { ...wanted, now: process.clock.wall() }))),
    tokens: (typed) => inTime(() => withTokens((registry) => offerTokenNames(registry, typed))),
  }
}
