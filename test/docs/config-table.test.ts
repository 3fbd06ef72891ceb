// The table of the configuration in docs/configuration.md, and the shipped file, made from and compared with the one table of keys.

import { describe, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "smol-toml"
import { CONFIG_KEYS, type ConfigKey } from "../../src/config/keys.ts"

const ROOT = join(import.meta.dir, "../..")
const PAGE = join(ROOT, "docs/configuration.md")
const BEGIN = "<!-- config:start -->\n"
const END = "<!-- config:end -->"

test("the table in docs/configuration.md says what the table of keys says", () => {
  const page = readFileSync(PAGE, "utf8")
  const [before = "", rest = ""] = page.split(BEGIN)
  const [shown, after = ""] = rest.split(END)
  if (process.env.UPDATE_GOLDEN === "1") writeFileSync(PAGE, `${before}${BEGIN}${table()}${END}${after}`)
  else expect(shown).toBe(table())
})

describe("scripts/packaging/ipgate.toml", () => {
  const text = readFileSync(join(ROOT, "scripts/packaging/ipgate.toml"), "utf8")
  // A key that is commented out stands there with its default, and without a blank after the mark.
  const whole = parse(text.replace(/^#(?=[a-z_]+ = )/gm, "")) as Record<string, Record<string, unknown>>
  const inForce = parse(text) as Record<string, Record<string, unknown> | undefined>
  const ofServer = CONFIG_KEYS.filter(({ key }) => key !== "client.server") as readonly ConfigKey[]

  test("has every key of the server, and no other", () => {
    const named = Object.entries(whole).flatMap(([section, members]) =>
      Object.keys(members).map((name) => `${section}.${name}`),
    )
    expect(named.toSorted()).toEqual(ofServer.map(({ key }) => key).toSorted())
  })

  test.each(ofServer.map((row) => [row.key, row] as const))(
    "%s: the default where it is commented out",
    (key, row) => {
      const [section = "", name = ""] = key.split(".")
      if (inForce[section]?.[name] === undefined && row.fallback !== null) {
        expect(whole[section]?.[name]).toEqual(row.fallback)
      }
    },
  )

  test("marks what needs a restart, and nothing else", () => {
    for (const { key, takesEffect } of ofServer) {
      const [section = "", name = ""] = key.split(".")
      const part = text.split(`[${section}]\n`)[1]?.split(/^\[/m)[0] ?? ""
      const [comment = ""] = part.split(new RegExp(`^#?${name} = `, "m"))
      const last = comment.split(/^#?[a-z_]+ = .*$/m).at(-1) ?? ""
      expect([key, last.includes("(restart)")]).toEqual([key, takesEffect === "restart"])
    }
  })
})

function table(): string {
  const rows = (CONFIG_KEYS as readonly ConfigKey[]).map((row) => [
    `\`${row.option.split(" ")[0]}\``,
    `\`${row.variable}\``,
    `\`${row.key}\``,
    fallback(row),
    row.takesEffect === "next command" ? "the next command" : `a ${row.takesEffect}`,
  ])
  const others = [
    [
      "",
      "`IPGATE_TOKEN`",
      "",
      "the token itself: a last resort, because other processes of the same user can read it",
      "a restart",
    ],
    [
      "`--config`",
      "`IPGATE_CONFIG`",
      "",
      "`/etc/ipgate/ipgate.toml`, else `$XDG_CONFIG_HOME/ipgate/config.toml`",
      "",
    ],
  ]
  const titles = ["flag", "environment", "key in the file", "default", "changes with"]
  const lines = [titles, ...rows, ...others].map((cells) =>
    `| ${cells.join(" | ")} |`.replaceAll("|  |", "| |"),
  )
  return `${[lines[0], `${"|---".repeat(titles.length)}|`, ...lines.slice(1)].join("\n")}\n`
}

function fallback({ fallback, fallbackInWords }: ConfigKey): string {
  if (fallback === null) return fallbackInWords ?? ""
  if (fallback === "") return "nowhere"
  return [fallback]
    .flat()
    .map((text) => `\`${text}\``)
    .join(", ")
}
