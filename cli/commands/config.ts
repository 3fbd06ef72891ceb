// ipgate config: is the configuration valid, which values hold and where they come from, and which file it is.

import { Command } from "commander"
import { type KeyOrigin, SECRET } from "../../src/config/config.ts"
import { ConfigError } from "../../src/config/config-error.ts"
import { configPaths } from "../../src/config/config-file.ts"
import { findConfigFile } from "../../src/config/settings.ts"
import type { CommandEnv } from "../command-env.ts"
import { EXIT } from "../exit.ts"
import { checkServerSettings } from "../server-settings.ts"

export function configCommand(env: CommandEnv): Command {
  return new Command("config")
    .summary("check and show the configuration")
    .description(
      "Check the configuration, show which values hold and where each comes from, or name its file.",
    )
    .addHelpText(
      "before",
      `Examples:
  ipgate config check
  ipgate config show --origin
`,
    )
    .helpCommand("help [command]", "print help for a command")
    .addCommand(checkCommand(env))
    .addCommand(showCommand(env))
    .addCommand(pathCommand(env))
}

function checkCommand(env: CommandEnv): Command {
  return new Command("check")
    .summary("would serve start with it?")
    .description(
      "Check the configuration and the token as serve does, without a start. Exits with 78 and every problem, with file and line.",
    )
    .argument("[file]", "this file instead of the one that would be read")
    .addHelpText(
      "before",
      `Examples:
  ipgate config check
  ipgate config check --quiet && echo "valid"
`,
    )
    .action((file: string | undefined) => {
      checkServerSettings(env, file === undefined ? {} : { config: file })
      if (env.out.isJson) env.out.json({ valid: true })
      env.out.line("the configuration is valid")
    })
}

function showCommand(env: CommandEnv): Command {
  return new Command("show")
    .summary("print every value that holds")
    .description("Print every value that holds, as a configuration file. A secret is shown as ***.")
    .option("--origin", "say where each value comes from")
    .addHelpText(
      "before",
      `Examples:
  ipgate config show
  ipgate config show --origin
`,
    )
    .action(({ origin = false }: { origin?: boolean }) => {
      const { origins } = env.explainedConfig()
      if (env.out.isJson) {
        env.out.json(origins.map(({ key, value, where }) => ({ key, value, origin: where })))
      } else if (origin) {
        env.out.table(
          ["KEY", "VALUE", "ORIGIN"],
          origins.map((one) => [one.key, toml(one), one.where]),
        )
      } else printFile(env, origins)
    })
}

function pathCommand(env: CommandEnv): Command {
  return new Command("path")
    .summary("name the file that is read")
    .description("Print the path of the configuration file that is read. Exits with 1 if there is none.")
    .addHelpText(
      "before",
      `Examples:
  ipgate config path
  ipgate config path --json
`,
    )
    .action(() => {
      // Not what stands in it: whoever is about to correct a mistake has to find the file.
      const file = configFileOf(env)
      const searched = configPaths(env.process.environment)
      if (env.out.isJson) env.out.json({ file, searched })
      else if (file !== null) env.out.line(file)
      else env.out.warn(`there is no configuration file; these are looked for: ${searched.join(", ")}`)
      if (file === null) env.exitWith(EXIT.failed)
    })
}

/** Throws `ConfigError` for a file that is named and is not there. */
function configFileOf({ options, process }: CommandEnv): string | null {
  const problems: string[] = []
  const flags = options.config === undefined ? {} : { config: options.config }
  const found = findConfigFile({ flags, env: process.environment, read: process.readFile }, problems)
  if (problems.length > 0) throw new ConfigError(problems.join("\n"))
  return found?.path ?? null
}

function printFile({ out }: CommandEnv, origins: readonly KeyOrigin[]): void {
  let last = ""
  for (const one of origins) {
    const [section = "", name = ""] = one.key.split(".")
    if (section !== last && last !== "") out.line("")
    if (section !== last) out.line(`[${section}]`)
    last = section
    // A key without a value has a default that no text stands for.
    if (isUnset(one)) out.line(`# ${name} is not set`)
    else if (isSecret(one)) out.line(`# the token itself is given: ${one.where} = ${one.value}`)
    else out.line(`${name} = ${toml(one)}`)
  }
}

function isUnset({ key, value }: KeyOrigin): boolean {
  return value === "" && key === "server.socket_group"
}

function isSecret({ value }: KeyOrigin): boolean {
  return value === SECRET
}

/** What JSON writes for a text or a list of texts, TOML reads. */
function toml(one: KeyOrigin): string {
  if (isUnset(one)) return "-"
  return typeof one.value === "string"
    ? JSON.stringify(one.value)
    : `[${one.value.map((text) => JSON.stringify(text)).join(", ")}]`
}
