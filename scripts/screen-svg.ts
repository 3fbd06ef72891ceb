// A screen of a terminal as a picture: the text and styles that tmux tells, in an SVG that any browser shows alike.

export type ScreenSize = { readonly columns: number; readonly rows: number }

type Style = {
  readonly colour: string | null
  readonly isBold: boolean
  readonly isFaint: boolean
  readonly isInverse: boolean
}

const PLAIN: Style = { colour: null, isBold: false, isFaint: false, isInverse: false }

type Run = { readonly text: string; readonly style: Style }

/** Pixels of a cell, and around the screen. */
const CELL = { width: 8.4, height: 18 }
const MARGIN = 14
const BASELINE = 13

const BACKGROUND = "#16181d"
const FOREGROUND = "#d8dbe2"
const FAINT = 0.55
/** The eight colours of a terminal, as they are read best on this background. */
const PALETTE = [
  "#3b3f4a",
  "#ff6b6b",
  "#7bd88f",
  "#f5c451",
  "#6fa8ff",
  "#c792ea",
  "#5fd7d7",
  "#d8dbe2",
] as const

/** `screen` is what `tmux capture-pane -p -e` prints. */
export function svgOf(screen: string, { columns, rows }: ScreenSize): string {
  const width = Math.round(columns * CELL.width + 2 * MARGIN)
  const height = rows * CELL.height + 2 * MARGIN
  const lines = runsOf(screen).slice(0, rows).flatMap(textsOf)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="ipgate watch in a terminal">
<rect width="${width}" height="${height}" rx="8" fill="${BACKGROUND}"/>
<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" fill="${FOREGROUND}" xml:space="preserve">
${lines.join("\n")}
</g>
</svg>
`
}

function textsOf(runs: readonly Run[], row: number): string[] {
  const texts: string[] = []
  let column = 0
  for (const { text, style } of runs) {
    const cells = Bun.stringWidth(text)
    if (style.isInverse) texts.push(block(cells, column, row, FOREGROUND, 0))
    // Each word stands where its cells are, whatever font there is, and blocks are drawn: a font may leave gaps in them.
    for (const { 0: word, index } of text.matchAll(/[█░]+|[^\s█░]+(?: [^\s█░]+)*/g)) {
      const at = column + Bun.stringWidth(text.slice(0, index))
      texts.push(/^[█░]/.test(word) ? bar(word, at, row, style) : textAt(word, at, row, style))
    }
    column += cells
  }
  return texts
}

function textAt(text: string, column: number, row: number, style: Style): string {
  const { colour, isBold, isFaint, isInverse } = style
  const fill = isInverse ? BACKGROUND : colour
  const attributes = [
    `x="${x(column)}"`,
    `y="${MARGIN + row * CELL.height + BASELINE}"`,
    `textLength="${(Bun.stringWidth(text) * CELL.width).toFixed(1)}"`,
    ...(fill === null ? [] : [`fill="${fill}"`]),
    ...(isBold ? ['font-weight="bold"'] : []),
    ...(isFaint ? [`opacity="${FAINT}"`] : []),
  ]
  return `<text ${attributes.join(" ")}>${escaped(text)}</text>`
}

function bar(blocks: string, column: number, row: number, { colour }: Style): string {
  const fill = blocks.startsWith("█") ? (colour ?? FOREGROUND) : PALETTE[0]
  return block(blocks.length, column, row, fill, 3)
}

function block(cells: number, column: number, row: number, fill: string, inset: number): string {
  const y = MARGIN + row * CELL.height + inset
  const width = (cells * CELL.width).toFixed(1)
  return `<rect x="${x(column)}" y="${y}" width="${width}" height="${CELL.height - 2 * inset}" fill="${fill}"/>`
}

/** The pieces of each line that look alike. A style goes on in the next line. */
function runsOf(screen: string): Run[][] {
  let style = PLAIN
  return screen.split("\n").map((line) => {
    const runs: Run[] = []
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences of styles begin with it
    for (const [, codes, text] of line.matchAll(/\x1b\[([0-9;]*)m|([^\x1b]+)/g)) {
      if (text !== undefined) runs.push({ text, style })
      else style = styled(style, (codes ?? "").split(";").map(Number))
    }
    return runs
  })
}

function styled(before: Style, codes: readonly number[]): Style {
  let { colour, isBold, isFaint, isInverse } = before
  for (const code of codes) {
    if (code === 0) ({ colour, isBold, isFaint, isInverse } = PLAIN)
    else if (code === 1) isBold = true
    else if (code === 2) isFaint = true
    else if (code === 22) isBold = isFaint = false
    else if (code === 7) isInverse = true
    else if (code === 27) isInverse = false
    else if (code === 39) colour = null
    else if (code >= 30 && code <= 37) colour = PALETTE[code - 30] ?? null
  }
  return { colour, isBold, isFaint, isInverse }
}

function x(column: number): string {
  return (MARGIN + column * CELL.width).toFixed(1)
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
}
