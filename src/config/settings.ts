// Who wins: for each key the value that holds, and where it comes from.

import { type ConfigFile, configPaths, type Given, readConfigFile } from "./config-file.ts"
import { CONFIG_KEYS, type ConfigKey, flagNameOf, type KeyName } from "./keys.ts"

export type Environment = Readonly<Record<string, string | undefined>>

/** What the command line gave, by the names of commander; a name that is missing was not given. */
export type Flags = Readonly<Record<string, string | readonly string[] | undefined>>

export type ConfigSources = {
  readonly flags: Flags
  readonly env: Environment
  /** 0 for root. */
  readonly userId: number
  /** The text of a file, or `null` if it does not exist. */
  readonly read: (path: string) => string | null
  /** True if there is a socket. */
  readonly isSocket: (path: string) => boolean
}

/** What somebody gave for each key, by flag, environment or file; a key that is missing has its default. */
export type Settings = {
  /** The one file that is read; `null` if there is none. */
  readonly file: ConfigFile | null
  text(key: KeyName): { readonly value: string; readonly where: string } | null
  list(key: KeyName): { readonly value: readonly string[]; readonly where: string } | null
}

/** Flag, environment, file, in that order. Every problem with the file is added to `problems`. */
export function findSettings({ flags, env, read }: ConfigSources, problems: string[]): Settings {
  const file = loadFile(flags, env, read, problems)
  const given = (key: KeyName): Given | null => {
    const row: ConfigKey = CONFIG_KEYS.find((one) => one.key === key) as ConfigKey
    const flag = flags[flagNameOf(row)]
    if (flag !== undefined) return { value: flag, where: "command line" }
    const variable = env[row.variable]
    if (variable !== undefined) {
      const value = row.kind === "list" ? variable.split(/[\s,]+/).filter(Boolean) : variable
      return { value, where: row.variable }
    }
    return file?.values.get(key) ?? null
  }
  return {
    file,
    text: (key) => given(key) as { value: string; where: string } | null,
    list: (key) => given(key) as { value: readonly string[]; where: string } | null,
  }
}

function loadFile(
  flags: Flags,
  env: Environment,
  read: (path: string) => string | null,
  problems: string[],
): ConfigFile | null {
  const found = findConfigFile({ flags, env, read }, problems)
  return found === null ? null : readConfigFile(found.path, found.source, problems)
}

/** The one file that is read, and its text; `null` if there is none. One that is named and missing is a problem. */
export function findConfigFile(
  { flags, env, read }: Pick<ConfigSources, "flags" | "env" | "read">,
  problems: string[],
): { readonly path: string; readonly source: string } | null {
  const named = (flags.config as string | undefined) ?? env.IPGATE_CONFIG
  for (const path of named !== undefined ? [named] : configPaths(env)) {
    const source = read(path)
    if (source !== null) return { path, source }
  }
  if (named === "") problems.push("the configuration file has no name: unset IPGATE_CONFIG, or give a path")
  else if (named !== undefined)
    problems.push(`${named}: the configuration file does not exist or cannot be read`)
  return null
}
