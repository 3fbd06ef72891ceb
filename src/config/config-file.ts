// The configuration file: which one it is, and what stands in it, each value with its line.

import { parse, TomlError } from "smol-toml"
import { quoted } from "../core/printable.ts"
import { nearestName } from "../nearest-name.ts"
import { CONFIG_KEYS, type ConfigKey } from "./keys.ts"

/** A value, and the place that a message about it names. */
export type Given = { readonly value: string | readonly string[]; readonly where: string }

export type ConfigFile = {
  readonly path: string
  readonly values: ReadonlyMap<string, Given>
}

const SYSTEM_CONFIG = "/etc/ipgate/ipgate.toml"

/** The files of which the first that exists is read, if none is named. All are absolute. */
export function configPaths(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const { XDG_CONFIG_HOME, HOME } = environment
  const home = XDG_CONFIG_HOME?.startsWith("/") ? XDG_CONFIG_HOME : HOME && `${HOME}/.config`
  return [SYSTEM_CONFIG, ...(home?.startsWith("/") ? [`${home}/ipgate/config.toml`] : [])]
}

/** Everything that a text of TOML says, and every problem with it added to `problems`. */
export function readConfigFile(path: string, source: string, problems: string[]): ConfigFile {
  const values = new Map<string, Given>()
  for (const [section, members] of Object.entries(parsed(path, source, problems))) {
    const isSection = isTable(members)
    for (const [name, value] of isSection ? Object.entries(members) : [["", members] as const]) {
      const key = isSection ? `${section}.${name}` : section
      const where = `${path}:${isSection ? lineOf(source, section, name) : lineOf(source, "", section)}`
      const problem = problemWith(key, value)
      if (problem === null) values.set(key, { value: value as string | string[], where })
      else problems.push(`${where}: ${problem}`)
    }
  }
  return { path, values }
}

function parsed(path: string, source: string, problems: string[]): Record<string, unknown> {
  try {
    return parse(source)
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause
    const [what = ""] = cause.message.replace(/^Invalid TOML document: /, "").split("\n")
    problems.push(`${path}:${cause.line}: column ${cause.column} is no TOML: ${what}`)
    return {}
  }
}

function problemWith(key: string, value: unknown): string | null {
  const known: ConfigKey | undefined = CONFIG_KEYS.find((one) => one.key === key)
  if (known === undefined) {
    const names = CONFIG_KEYS.map((one) => one.key)
    // Its own name, without its section or under another one.
    const own = key.slice(key.lastIndexOf(".") + 1)
    const near = nearestName(key, names) ?? names.find((name) => name.endsWith(`.${own}`)) ?? null
    return `unknown key ${quoted(key)}${near === null ? "" : `; did you mean ${near}?`}`
  }
  if (known.kind === "text") {
    if (typeof value !== "string") return `${key} must be text in quotes`
    return known.isPath && isRelative(value)
      ? `${key} is ${quoted(value)}: write the whole path from / on; a part of one would count from wherever a command is started`
      : null
  }
  const isTextList = Array.isArray(value) && value.every((item) => typeof item === "string")
  return isTextList ? null : `${key} must be a list of texts: ["…", "…"]`
}

/** Of what can be no path at all, whoever reads the value says so. */
function isRelative(value: string): boolean {
  const path = value.replace(/^file:/, "")
  return path !== "" && !path.startsWith("/") && !/^[a-z]*:/i.test(path)
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

/**
 * The line of a key, counted from 1. The parser does not tell, so look for the line that begins with it below the
 * header of its section, or with both; else for the header.
 */
function lineOf(source: string, section: string, name: string): number {
  let within = ""
  let header = 0
  for (const [i, line] of source.split("\n").entries()) {
    const opened = /^\s*\[+([^\]]*)\]/.exec(line)?.[1]
    if (opened !== undefined) within = bare(opened)
    if (opened !== undefined && within === section && header === 0) header = i + 1
    const key = bare(line.split("=")[0] ?? "")
    if (opened === undefined && line.includes("=")) {
      if (within === section ? key === name : within === "" && key === `${section}.${name}`) return i + 1
      // An inline table holds its keys in its own line.
      if (within === "" && key === section && header === 0) header = i + 1
    } else if (opened !== undefined && section === "" && within === name) return i + 1
  }
  return Math.max(header, 1)
}

/** A key without the quotes and the blanks that TOML allows in it. */
function bare(key: string): string {
  return key.replace(/["'\s]/g, "")
}
