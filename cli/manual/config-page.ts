// The page of the configuration file: ipgate.toml(5), made from the table of keys.

import { CONFIG_KEYS, type ConfigKey } from "../../src/config/keys.ts"
import type { Release } from "./command-page.ts"
import { bold, escaped, italic, Page, sentence } from "./roff.ts"

export function configPage({ version, date }: Release): string {
  const page = new Page({ name: "ipgate.toml", section: 5, date, source: `ipgate ${version}` })
  page.section("NAME").roff(`ipgate.toml \\- ${escaped("configuration of ipgate")}`)
  page.section("SYNOPSIS").roff(italic("/etc/ipgate/ipgate.toml"))
  page
    .section("DESCRIPTION")
    .text(
      "A file of TOML with sections and keys. Every key is also a variable of the environment and an option; the option " +
        "counts before the variable, the variable before the file, the file before the default. A key that is not known " +
        "and a value of the wrong kind are errors, told with their line, and ipgate serve exits with 78. A change takes " +
        "effect with a reload (SIGHUP) or a restart of the server, as each key says.",
    )
    .roff(
      `${bold("ipgate config check")} finds mistakes, ${bold("ipgate config show --origin")} says what holds and why.`,
    )
  let section = ""
  for (const row of CONFIG_KEYS as readonly ConfigKey[]) {
    const [ofSection = "", name = ""] = row.key.split(".")
    if (ofSection !== section) page.section(`[${ofSection}]`)
    section = ofSection
    page.item(
      bold(name),
      [
        sentence(`${row.kind === "list" ? "a list of texts" : "text"}: ${row.description}`),
        sentence(`default: ${fallback(row)}`),
        sentence(
          `changes with ${row.takesEffect === "next command" ? "the next command" : `a ${row.takesEffect}`}`,
        ),
        `${bold(row.option.split(" ")[0] ?? "")}, ${bold(row.variable)}.`,
      ].join(" "),
    )
  }
  page.section("SEE ALSO").roff(`${bold("ipgate")}(1)`)
  return page.toString()
}

/** The words of the table are for docs/configuration.md, which has code and links. */
function fallback({ fallback, fallbackInWords = "none" }: ConfigKey): string {
  if (fallback === null) return fallbackInWords.replace(/: see \[[^\]]*\]\([^)]*\)/, "").replaceAll("`", "")
  return fallback.length === 0 ? "nowhere" : [fallback].flat().join(", ")
}
