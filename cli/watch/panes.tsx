// The screen, drawn: the model in, lines out. Every line is cut to the window before Ink sees it.

import { Box, Text } from "ink"
import { memo, type ReactNode } from "react"
import { layoutOf, type PaneName } from "./layout.ts"
import {
  activeHeading,
  activeLine,
  activeWidths,
  addressWidth,
  logHeading,
  logLine,
  logWidths,
  MARK,
  refusedHeading,
  refusedLine,
  refusedWidths,
  type Span,
  type Tone,
} from "./lines.ts"
import { keyOf, type Model, type Pane, temporaryCount } from "./model.ts"
import { windowStart } from "./selection.ts"
import { formLines, helpLines, lastLine, statusLine } from "./status-line.ts"

export type Look = { readonly isColoured: boolean }

export function Screen({ model, look }: { model: Model; look: Look }) {
  const { mode, size } = model
  const form = mode.kind === "form" ? formLines(mode.form, model) : []
  const layout = layoutOf(size, form.length + 1)
  if (layout === null)
    return <Line spans={[{ text: " make the window larger", tone: "plain" }]} look={look} />
  const lines = mode.kind === "help" ? helpLines(size).slice(0, size.rows - 2) : paneLines(model, layout)
  const all = [statusLine(model), ...lines, ...form]
  return (
    <Box flexDirection="column" width={size.columns} height={size.rows} overflow="hidden">
      {all.map((spans, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line of the screen is its place and nothing else
        <Line key={i} spans={spans} look={look} />
      ))}
      <Box flexGrow={1} />
      <Line spans={lastLine(model)} look={look} />
    </Box>
  )
}

function paneLines(model: Model, heights: Readonly<Record<PaneName, number>>): Span[][] {
  const { columns } = model.size
  const { active, refused, logged, clients, log, filter, isLoaded } = model
  const activeColumns = activeWidths(columns, addressWidth(active))
  const refusedColumns = refusedWidths(columns, addressWidth(refused))
  const logColumns = logWidths(columns, addressWidth(logged))
  return [
    ...lines(model, "active", active, {
      height: heights.active,
      heading: activeHeading(
        activeColumns,
        titleOf("TEMPORARY", active.rows.length, temporaryCount(model)),
        model,
      ),
      line: (entry) => activeLine(activeColumns, entry, model.now),
      empty: isLoaded ? "no temporary entry" : "reading the list …",
    }),
    ...lines(model, "refused", refused, {
      height: heights.refused,
      heading: refusedHeading(refusedColumns, titleOf("REFUSED", refused.rows.length, clients.length), model),
      line: (client) => refusedLine(refusedColumns, client, model),
      empty: "nobody was refused since the server started",
    }),
    ...lines(model, "log", logged, {
      height: heights.log,
      heading: logHeading(logColumns, filter === "" ? "LOG" : titleOf("LOG", logged.rows.length, log.length)),
      line: (row) => logLine(logColumns, row),
      empty: "nothing has happened yet",
    }),
  ]
}

type PaneView<Row> = {
  readonly height: number
  readonly heading: Span[]
  readonly line: (row: Row) => Span[]
  /** What stands there instead of rows. */
  readonly empty: string
}

function lines<Name extends PaneName, Row extends Parameters<(typeof keyOf)[Name]>[0]>(
  { focus, filter }: Model,
  name: Name,
  { rows, selection }: Pane<Row>,
  { height, heading, line, empty }: PaneView<Row>,
): Span[][] {
  const isFocused = focus === name
  const start = windowStart(selection.index, height, rows.length)
  const visible = rows.slice(start, start + height)
  const key = keyOf[name] as (row: Row) => string
  const shown = visible.map((row) => {
    const isMarked = isFocused && key(row) === selection.key
    return [mark(isMarked), ...(isMarked ? line(row).map(marked) : line(row))]
  })
  if (rows.length === 0 && height > 0) {
    const text = filter === "" ? empty : "nothing contains the filter"
    shown.push([{ text: `  ${text}`, tone: "faint" }])
  }
  const blank = Array.from({ length: Math.max(0, height - shown.length) }, (): Span[] => [])
  return [[{ text: isFocused ? "> " : "  ", tone: "heading" }, ...heading], ...shown, ...blank]
}

function mark(isMarked: boolean): Span {
  return { text: (isMarked ? ">" : " ").padEnd(MARK), tone: "strong" }
}

/** The address of the marked row, shown as the terminal shows a selection. */
function marked(span: Span): Span {
  return span.tone === "strong" ? { ...span, tone: "marked" } : span
}

function titleOf(name: string, shown: number, total: number): string {
  return shown === total ? `${name} ${total}` : `${name} ${shown}/${total}`
}

/** Most lines stay as they are from one second to the next, and React leaves those alone. */
const Line = memo(
  DrawnLine,
  (before, { spans, look }) => before.look === look && areEqual(before.spans, spans),
)

function DrawnLine({ spans, look }: { spans: readonly Span[]; look: Look }): ReactNode {
  return (
    <Box height={1} flexShrink={0}>
      <Text wrap="truncate">
        {spans.length === 0 ? " " : null}
        {spans.map(({ text, tone }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a span is its place in the line
          <Text key={i} {...styleOf(tone, look)}>
            {text}
          </Text>
        ))}
      </Text>
    </Box>
  )
}

function areEqual(some: readonly Span[], others: readonly Span[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ text, tone }, i) => text === others[i]?.text && tone === others[i]?.tone)
  )
}

const COLOURS: Readonly<Partial<Record<Tone, string>>> = {
  good: "green",
  warning: "yellow",
  bad: "red",
  heading: "cyan",
}

function styleOf(tone: Tone, { isColoured }: Look) {
  const color = COLOURS[tone]
  return {
    bold: tone === "strong" || tone === "marked" || tone === "heading" || tone === "bad",
    inverse: tone === "marked",
    dimColor: tone === "faint",
    ...(isColoured && color !== undefined ? { color } : {}),
  }
}
