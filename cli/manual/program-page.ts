// The page of the program: ipgate(1), with what all commands have in common.

import type { Command } from "commander"
import { commandItems, examples, exitStatus, optionItems, type Release, synopsis } from "./command-page.ts"
import { optionsOf } from "./help-parts.ts"
import { bold, escaped, italic, Page, sentence } from "./roff.ts"
import { FILES, VARIABLES } from "./surroundings.ts"

export function programPage(program: Command, { version, date }: Release): string {
  const page = new Page({ name: "ipgate", section: 1, date, source: `ipgate ${version}` })
  page.section("NAME").roff(`ipgate \\- ${escaped("an auth gateway that decides by IP address")}`)
  synopsis(page, program)
  page
    .section("DESCRIPTION")
    .text(
      "ipgate tells a reverse proxy who may come in: before each request the proxy asks GET /auth, and ipgate answers 204 " +
        "if the client's address is on a list, else 401. There are two lists, one for good and one whose entries end by " +
        "themselves. Every change is in a log.",
    )
    .roff(
      `${bold("ipgate serve")} runs the server; the other commands go through it, or with ${bold("--offline")} to its ` +
        "database while no server runs. Options stand before or after the command.",
    )
  commandItems(page, program)
  optionItems(page, "OPTIONS", optionsOf(program).own)
  exitStatus(page, program)
  page.section("ENVIRONMENT")
  for (const [name, meaning] of VARIABLES) page.item(bold(name), sentence(meaning))
  page.section("FILES")
  for (const [path, meaning] of FILES) page.item(italic(path), sentence(meaning))
  examples(page, program)
  page.section("SEE ALSO").roff(`${bold("ipgate.toml")}(5)`)
  return page.toString()
}
