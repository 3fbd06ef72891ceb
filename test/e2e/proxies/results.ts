// What a run of the proxies has shown, as the table of docs/proxies.md.

import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const PAGE = join(import.meta.dir, "../../../docs/proxies.md")
const BEGIN = "<!-- written by a test run: UPDATE_PROXY_TABLE=1 bun test test/e2e/proxies -->"
const END = "<!-- end of the table -->"

/** Row by proxy, version and transport; in it a cell for each behaviour. */
export class Results {
  private readonly rows = new Map<string, Map<string, string>>()

  constructor(private readonly behaviours: readonly string[]) {}

  record(row: readonly string[], behaviour: string, outcome: string): void {
    const key = row.join("|")
    const cells = this.rows.get(key) ?? new Map<string, string>()
    this.rows.set(key, cells.set(behaviour, outcome))
  }

  /** The lines of the table. */
  table(): string[] {
    const titles = ["proxy", "version", "over", ...this.behaviours]
    const lines = [...this.rows].map(([key, cells]) => [
      ...key.split("|"),
      ...this.behaviours.map((behaviour) => cells.get(behaviour) ?? "not run"),
    ])
    return [titles, titles.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`)
  }

  /**
   * Cells of this run that the page tells otherwise. Versions are not compared, and what was not run is not: another
   * machine may have other proxies.
   */
  differences(): string[] {
    const [, ...published] = publishedTable()
    const known = published.map((line) => line.split("|").map((cell) => cell.trim()))
    const titles =
      publishedTable()[0]
        ?.split("|")
        .map((cell) => cell.trim()) ?? []
    return [...this.rows].flatMap(([key, cells]) => {
      const [name = "", , transport = ""] = key.split("|")
      const rows = known.filter((cells) => cells[1] === name && cells[3] === transport)
      if (rows.length === 0) return [`${name} over ${transport} is not in the table`]
      return [...cells].flatMap(([behaviour, outcome]) =>
        rows.some((row) => row[titles.indexOf(behaviour)] === outcome)
          ? []
          : [`${name} over ${transport}, ${behaviour}: ${outcome}`],
      )
    })
  }

  /** Puts the table into the page. */
  publish(): void {
    const text = readFileSync(PAGE, "utf8")
    const [before] = text.split(BEGIN)
    const [, after] = text.split(END)
    writeFileSync(PAGE, `${before}${BEGIN}\n\n${this.table().join("\n")}\n\n${END}${after}`)
  }
}

/** The table that the page has: its titles, the line below them, and its rows. */
export function publishedTable(): string[] {
  const text = readFileSync(PAGE, "utf8")
  const between = text.slice(text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END))
  return between.split("\n").filter((line) => line.startsWith("|"))
}
