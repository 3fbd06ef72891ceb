// A command line that is being typed: which command its words have led to, and what may stand at the cursor.

import type { Argument, Command, Option } from "commander"

/** The line up to the word at the cursor. */
export type Line = {
  readonly program: Command
  readonly command: Command
  /** The options that were given, with the text of their values: none for one that takes none. */
  readonly given: ReadonlyMap<Option, readonly string[]>
  readonly operands: readonly string[]
  /** The option whose value comes next; with `more` it has one already, and takes others. */
  readonly pending: { readonly option: Option; readonly more: boolean } | null
  /** After `--` there are no options. */
  readonly onlyOperands: boolean
  /** After `help` there are only commands. */
  readonly isHelp: boolean
}

/** What the word at the cursor is. `prefix` is a part of that word which stays: `--format=`. */
export type Place =
  | { readonly kind: "command" }
  | { readonly kind: "option" }
  | { readonly kind: "value"; readonly of: Option | Argument; readonly prefix: string }
  /** Everything has been given that the command takes. */
  | { readonly kind: "end" }

/** Reads the words after the name of the program, as commander would if the line ended there. */
export function readLine(program: Command, words: readonly string[]): Line {
  const given = new Map<Option, string[]>()
  const operands: string[] = []
  let command = program
  let pending: Line["pending"] = null
  let onlyOperands = false
  let isHelp = false
  for (const word of words) {
    const isOption = !onlyOperands && word.startsWith("-") && word !== "-"
    if (pending !== null && !(pending.more && isOption)) {
      given.get(pending.option)?.push(word)
      pending = pending.option.variadic ? { option: pending.option, more: true } : null
      continue
    }
    pending = null
    if (!isOption) {
      const next = operands.length === 0 ? command.commands.find((one) => one.name() === word) : undefined
      if (next !== undefined) command = next
      else if (word === "help" && command === program && operands.length === 0) isHelp = true
      else operands.push(word)
    } else if (word === "--") {
      onlyOperands = true
    } else {
      const { options, value, takesNext } = readOptionWord(command, word)
      for (const option of options) given.set(option, given.get(option) ?? [])
      const last = options.at(-1)
      if (last !== undefined && value !== null) given.get(last)?.push(value)
      if (last !== undefined && takesNext) pending = { option: last, more: false }
    }
  }
  return { program, command, given, operands, pending, onlyOperands, isHelp }
}

/** What the word is that begins with `current`. */
export function placeOf(line: Line, current: string): Place {
  const { program, command, pending, onlyOperands, operands, isHelp } = line
  const isOption = !onlyOperands && current.startsWith("-")
  if (isHelp) return { kind: command.commands.length > 0 ? "command" : "end" }
  if (pending !== null && !(pending.more && isOption)) {
    return { kind: "value", of: pending.option, prefix: "" }
  }
  if (isOption) {
    const [prefix] = /^--[^=]+=/.exec(current) ?? []
    if (prefix === undefined) return { kind: "option" }
    const option = optionsOf(command).find(({ long }) => `${long}=` === prefix)
    return option !== undefined && takesValue(option)
      ? { kind: "value", of: option, prefix }
      : { kind: "end" }
  }
  if (command.commands.length > 0 && operands.length === 0) return { kind: "command" }
  if (command === program) return { kind: "end" }
  const last = command.registeredArguments.at(-1)
  const argument = command.registeredArguments[operands.length] ?? (last?.variadic ? last : undefined)
  return argument === undefined ? { kind: "end" } : { kind: "value", of: argument, prefix: "" }
}

/** The options that may be given to a command: its own first, then those of the program. */
export function optionsOf(command: Command): Option[] {
  const help = command.createHelp()
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)]
}

export function takesValue(option: Option): boolean {
  return option.required || option.optional
}

type OptionWord = {
  readonly options: readonly Option[]
  readonly value: string | null
  readonly takesNext: boolean
}

/** `--format=csv`, `--format`, `-n5`, `-n`, and several short ones in one word: `-qn5`. */
function readOptionWord(command: Command, word: string): OptionWord {
  const known = optionsOf(command)
  if (word.startsWith("--")) {
    const [, name, value] = /^(--[^=]*)(?:=([\s\S]*))?$/.exec(word) ?? []
    const option = known.find(({ long }) => long === name)
    if (option === undefined) return { options: [], value: null, takesNext: false }
    return {
      options: [option],
      value: value ?? null,
      takesNext: takesValue(option) && value === undefined,
    }
  }
  const options: Option[] = []
  for (let i = 1; i < word.length; i++) {
    const option = known.find(({ short }) => short === `-${word[i]}`)
    if (option === undefined) break
    options.push(option)
    if (!takesValue(option)) continue
    const value = word.slice(i + 1)
    return { options, value: value === "" ? null : value, takesNext: value === "" }
  }
  return { options, value: null, takesNext: false }
}
