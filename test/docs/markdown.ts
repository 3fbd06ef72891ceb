// The parts of a Markdown page that tests ask about: fenced blocks, tables, headings, links.

export type Block = {
  /** The word after the fence; "" if there is none. */
  readonly language: string
  /** Number of the first line inside the fence, counted from 0. */
  readonly start: number
  readonly lines: readonly string[]
}

/** The fenced blocks of a page, in order. Throws for one that is not closed. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = []
  let open: { language: string; start: number; lines: string[] } | null = null
  for (const [at, line] of page.split("\n").entries()) {
    const fence = /^```(.*)$/.exec(line)
    if (fence === null) open?.lines.push(line)
    else if (open === null) open = { language: fence[1] ?? "", start: at + 1, lines: [] }
    else {
      blocks.push(open)
      open = null
    }
  }
  if (open !== null) throw new Error(`the block in line ${open.start} is not closed`)
  return blocks
}

/** The blocks of one language, each as a text. */
export function textsOf(page: string, language: string): string[] {
  return blocksOf(page)
    .filter((block) => block.language === language)
    .map(({ lines }) => lines.map((line) => `${line}\n`).join(""))
}

/** The page without its fenced blocks. */
export function prose(page: string): string {
  let inside = false
  return page
    .split("\n")
    .filter((line) => {
      if (!line.startsWith("```")) return !inside
      inside = !inside
      return false
    })
    .join("\n")
}

/** The rows of every table that has a column of this title, each row as its cells. */
export function rowsUnder(page: string, title: string): Array<readonly string[]> {
  const rows: Array<readonly string[]> = []
  let titles: readonly string[] | null = null
  for (const line of prose(page).split("\n")) {
    if (!line.startsWith("|")) {
      titles = null
      continue
    }
    const cells = line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll("\\|", "|"))
    if (titles === null) titles = cells
    else if (titles.includes(title) && !/^-+$/.test(cells[0] ?? "")) rows.push(cells)
  }
  return rows
}

/** Every code span of a text, without its backticks. */
export function codeIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code as string)
}

/** Where the links of a page lead, as they are written. */
export function linksOf(page: string): string[] {
  return [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target as string)
}

/** The anchors of the headings, made as the hosts of repositories make them. */
export function anchorsOf(page: string): string[] {
  return [...prose(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    (heading as string)
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  )
}
