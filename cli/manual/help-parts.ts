// The parts of a command's help, taken from its definition: what the manual says in pages, `--help` says on the screen.

import type { Command, Option } from "commander"

/** What the help says before or after the rest, such as its examples. */
export function helpText(command: Command, where: "before" | "after"): string {
  const parts: string[] = []
  // Every command is an emitter of such events, which its type does not say.
  const emitter = command as Command & { emit(event: string, context: object): boolean }
  emitter.emit(`${where}Help`, { error: false, command, write: (part: string) => parts.push(part) })
  return parts.join("")
}

/** `ipgate token create` for a command within a command. */
export function wordsOf(command: Command): string[] {
  return command.parent === null ? [command.name()] : [...wordsOf(command.parent), command.name()]
}

/** `ipgate-allow`, the name of its page. */
export function pageNameOf(command: Command): string {
  return wordsOf(command).join("-")
}

/** Its own options, and those of the commands above it. */
export function optionsOf(command: Command): { own: Option[]; global: Option[] } {
  const help = command.createHelp()
  return { own: help.visibleOptions(command), global: help.visibleGlobalOptions(command) }
}

/** The commands below it that are shown, without the one that only prints help. */
export function commandsOf(command: Command): readonly Command[] {
  const shown = command.createHelp().visibleCommands(command)
  return command.commands.filter((one) => shown.includes(one))
}

/** The lines below a title of the help: `Examples:`. */
export function linesBelow(title: string, text: string): string[] {
  const [, lines = ""] = new RegExp(`^${title}:\\n((?: .*\\n?)+)`, "m").exec(text) ?? []
  return lines.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]))
}

/** The exit codes and what each means, in the words of the help, where several stand beside each other. */
export function exitCodesOf(program: Command): Array<{ code: string; meaning: string }> {
  return linesBelow("Exit codes", helpText(program, "after")).flatMap((line) =>
    line.split(/ {2,}/).map((part) => {
      const [code = "", ...words] = part.split(" ")
      return { code, meaning: words.join(" ") }
    }),
  )
}
