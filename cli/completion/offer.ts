// What is offered for the word at the cursor: commands, options, values, and what the server knows.

import type { Command, Option } from "commander"
import type { ListName } from "../../src/core/entry.ts"
import { type Candidate, NOTHING, type Offer } from "./candidate.ts"
import type { EntriesWanted } from "./entries.ts"
import { type Line, optionsOf, placeOf } from "./line.ts"
import { valuesOf } from "./values.ts"

/** What only the server knows; fulfilled with nothing where it is not to be had. */
export type Live = {
  readonly entries: (wanted: Omit<EntriesWanted, "now">) => Promise<Offer>
  readonly tokens: (typed: string) => Promise<Offer>
}

/** The candidates that begin with `current`; for the rest of a word as `--format=c` they hold all of it. */
export async function offer(line: Line, current: string, live: Live): Promise<Offer> {
  const { command, operands } = line
  const place = placeOf(line, current)
  switch (place.kind) {
    case "command":
      return words(commandsOf(command), current)
    case "option":
      return words(optionWords(line, optionsOf(command), current), current)
    case "end":
      // Somebody who asks there wants to know what else there is.
      return current === "" && command !== line.program && !line.isHelp && !line.onlyOperands
        ? words(optionWords(line, [...command.options], "--"), "")
        : NOTHING
    case "value": {
      const { of, prefix } = place
      const values = valuesOf(command, of)
      if (values === "files" || values === "directories") return { kind: values }
      const typed = current.slice(prefix.length)
      const offered =
        values === "entries"
          ? await live.entries({ lists: listsOf(line), typed, except: operands })
          : values === "tokens"
            ? await live.tokens(typed)
            : words(
                values.map((text) => ({ text, description: "" })),
                typed,
              )
      if (!("candidates" in offered)) return offered
      const whole = offered.candidates.map(({ text, description }) => ({ text: prefix + text, description }))
      return { ...offered, candidates: whole }
    }
  }
}

function words(candidates: readonly Candidate[], current: string): Offer {
  return { kind: "words", candidates: candidates.filter(({ text }) => text.startsWith(current)) }
}

function commandsOf(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((one) => ({ text: one.name(), description: one.summary() || one.description() }))
}

/** Those that were not given yet, or that may be given again; the short names only to somebody who has typed one dash. */
function optionWords(line: Line, options: readonly Option[], current: string): Candidate[] {
  return options
    .filter((option) => !line.given.has(option) || option.variadic)
    .flatMap(({ long, short, description }) =>
      [long, current.startsWith("--") ? undefined : short]
        .filter((text) => text !== undefined)
        .map((text) => ({ text, description })),
    )
}

/** The lists that the options of the line speak of. */
function listsOf({ given }: Line): ListName[] {
  const names = new Set([...given.keys()].map(({ long }) => long))
  return names.has("--temp") ? ["temp"] : names.has("--perm") ? ["perm"] : ["temp", "perm"]
}
