// The manual: a page for the program and one for each command, made from what `--help` is made of, and one for the
// configuration, made from its keys.

import type { Command } from "commander"
import { commandPage, type Release } from "./command-page.ts"
import { configPage } from "./config-page.ts"
import { commandsOf, pageNameOf } from "./help-parts.ts"
import { programPage } from "./program-page.ts"

export type ManualFile = { readonly name: string; readonly text: string }

/** The same files for the same program and release, whenever and wherever they are made. */
export function manualPages(program: Command, release: Release): ManualFile[] {
  return [
    { name: "ipgate.1", text: programPage(program, release) },
    ...below(program).map((command) => ({
      name: `${pageNameOf(command)}.1`,
      text: commandPage(program, command, release),
    })),
    { name: "ipgate.toml.5", text: configPage(release) },
  ]
}

function below(command: Command): Command[] {
  return commandsOf(command).flatMap((one) => [one, ...below(one)])
}
