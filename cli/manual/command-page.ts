// The page of one command: ipgate-allow(1).

import type { Command, Option } from "commander"
import {
  commandsOf,
  exitCodesOf,
  helpText,
  linesBelow,
  optionsOf,
  pageNameOf,
  wordsOf,
} from "./help-parts.ts"
import { bold, escaped, italic, Page, sentence } from "./roff.ts"

export type Release = { readonly version: string; readonly date: string }

/** What `--help` prints, as a page of section 1. */
export function commandPage(program: Command, command: Command, { version, date }: Release): string {
  const name = pageNameOf(command)
  const page = new Page({ name, section: 1, date, source: `ipgate ${version}` })
  page.section("NAME").roff(`${escaped(name)} \\- ${escaped(command.summary())}`)
  synopsis(page, command)
  page.section("DESCRIPTION").text(command.description())
  argumentItems(page, command)
  commandItems(page, command)
  const { own, global } = optionsOf(command)
  optionItems(page, "OPTIONS", own)
  optionItems(page, "GLOBAL OPTIONS", global)
  exitStatus(page, program)
  examples(page, command)
  page.section("SEE ALSO").roff(reference(command.parent ?? program))
  return page.toString()
}

/** `ipgate allow [options] <ip|cidr...>`, with what is to be replaced set apart. */
export function synopsis(page: Page, command: Command): void {
  const usage = command.createHelp().commandUsage(command).slice(wordsOf(command).join(" ").length)
  const roff = usage
    .split(" ")
    .map((word) => (/[<[]/.test(word) ? italic(word) : escaped(word)))
    .join(" ")
  page.section("SYNOPSIS").roff(`${bold(wordsOf(command).join(" "))}${roff}`)
}

/** The commands below this one, each with its page. */
export function commandItems(page: Page, command: Command): void {
  const commands = commandsOf(command)
  if (commands.length === 0) return
  page.section("COMMANDS")
  for (const one of commands) page.item(reference(one), sentence(one.summary()))
}

export function optionItems(page: Page, title: string, options: readonly Option[]): void {
  if (options.length === 0) return
  page.section(title)
  for (const option of options) {
    const term = option.flags
      .split(/( |, |<[^>]*>)/)
      .map((part) => (part.startsWith("-") ? bold(part) : part.startsWith("<") ? italic(part) : part))
      .join("")
    const choices = option.argChoices === undefined ? "" : ` (one of ${option.argChoices.join(", ")})`
    const fallback = option.defaultValue === undefined ? "" : `; default ${String(option.defaultValue)}`
    page.item(term, sentence(`${option.description}${choices}${fallback}`))
  }
}

export function exitStatus(page: Page, program: Command): void {
  page.section("EXIT STATUS")
  for (const { code, meaning } of exitCodesOf(program)) page.item(bold(code), sentence(meaning))
}

export function examples(page: Page, command: Command): void {
  const lines = linesBelow("Examples", helpText(command, "before")).map((line) => line.split(/ {3,}/))
  page.section("EXAMPLES")
  // Beside each other, a command and a remark would be wider than a terminal.
  if (lines.every(([, remark]) => remark === undefined)) page.verbatim(lines.map(([line = ""]) => line))
  else for (const [line = "", remark = ""] of lines) page.item(bold(line), sentence(remark))
}

function argumentItems(page: Page, command: Command): void {
  if (command.registeredArguments.length === 0) return
  page.section("ARGUMENTS")
  for (const argument of command.registeredArguments) {
    const choices = argument.argChoices === undefined ? "" : ` (one of ${argument.argChoices.join(", ")})`
    page.item(italic(argument.name()), sentence(`${argument.description}${choices}`))
  }
}

function reference(command: Command): string {
  return `${bold(pageNameOf(command))}(1)`
}
