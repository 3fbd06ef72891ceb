// The first line of the screen, and the last: how the server is, and what the keys do.

import { ascii, cellsOf, cut, cutStart } from "./cells.ts"
import { type Field, type Form, remark } from "./form.ts"
import type { Span } from "./lines.ts"
import { type Model, temporaryCount } from "./model.ts"
import { type Rates, silentFor } from "./server-state.ts"

/** Cells that stay free, so that the line does not change its form whenever a number gets longer. */
const SLACK = 4

/** The longest of the forms that fits. */
export function statusLine(model: Model): Span[] {
  const { columns } = model.size
  const forms = silentFor(model.server, model.mono) === null ? answering(model) : silent(model)
  const fitting = forms.find((form) => cellsOf(textOf(form)) + SLACK <= columns) ?? forms.at(-1) ?? []
  let room = columns
  const spans: Span[] = []
  for (const { text, tone } of fitting) {
    const shown = cut(text, room)
    room -= cellsOf(shown)
    spans.push({ text: shown, tone })
  }
  return spans
}

function answering(model: Model): Span[][] {
  const { server, address } = model
  const { status, counts, rates } = server
  if (status === null || counts === null) return [[plain(` asking ${ascii(address)} …`)]]
  const up = /^(?:\d+[dhms]){1,2}/.exec(status.uptime)?.[0] ?? "0s"
  const allowed = rate(rates?.allowed)
  const refused = rate(rates?.denied)
  const { permanentCount, databaseOk } = status
  const temporary = temporaryCount(model)
  const database = (name: string): Span =>
    databaseOk ? plain(`${name} ok`) : { text: "DATABASE FAILS: no change is possible", tone: "bad" }
  const lists = `${permanentCount} permanent  ${temporary} temporary`
  const rates_ = `allowed ${allowed}  refused ${refused}`
  return [
    [
      strong(` ipgate ${ascii(address)}`),
      plain(`   up ${up}   ${lists}   `),
      database("database"),
      plain(`   ${rates_}`),
    ],
    [plain(` up ${up}   ${lists}   `), database("database"), plain(`   ${rates_}`)],
    [plain(` up ${up}  ${permanentCount} perm ${temporary} temp  `), database("db"), plain(`  ${rates_}`)],
    [
      plain(` up ${up}  ${permanentCount} perm ${temporary} temp  `),
      database("db"),
      plain(`  ${allowed} in  ${refused} out`),
    ],
  ]
}

function silent(model: Model): Span[][] {
  const { server, mono, address } = model
  const seconds = silentFor(server, mono) ?? 0
  const what: Span = { text: ` no answer since ${seconds} s, retrying`, tone: "bad" }
  const why = server.problem === null ? `: ${ascii(address)}` : `: ${ascii(server.problem)}`
  return [[what, plain(why)], [what]]
}

/** One decimal for what would otherwise look like nothing. */
function rate(perSecond: Rates[keyof Rates] | undefined): string {
  if (perSecond === undefined) return "-/s"
  const text =
    perSecond > 0 && perSecond < 9.95 ? perSecond.toFixed(1).replace(/\.0$/, "") : perSecond.toFixed(0)
  return `${text}/s`
}

const HINTS = {
  browse: [
    " a allow   e extend   d remove   p permanent   / filter   s sort   tab pane   ? help   q quit",
    " a allow  e extend  d remove  p permanent  / filter  ? help  q quit",
    " a allow e extend d remove p perm / filter ? help q quit",
    " ? help  q quit",
  ],
  refused: [
    " Enter let in for 1h   a allow   p permanent   / filter   s sort   tab pane   ? help   q quit",
    " Enter let in for 1h  a allow  p permanent  / filter  ? help  q quit",
    " Enter let in for 1h  a allow  / filter  ? help  q quit",
    " ? help  q quit",
  ],
  form: [
    " Enter next field, then done   Tab other field   Ctrl-U empty   Esc cancel",
    " Enter done   Esc cancel",
  ],
  filter: [" Enter keep it   Esc show all"],
  help: [" any key goes back"],
} as const

/** The last line: a question, what was done, or what the keys do. */
export function lastLine(model: Model): Span[] {
  const { mode, notice, filter, focus, size } = model
  const { columns } = size
  if (mode.kind === "confirm") {
    const forms = [`${mode.question}  y yes, any other key no`, `${mode.question}  y/n`, `${mode.short}  y/n`]
    const fitting = forms.map(ascii).find((form) => form.length < columns) ?? ascii(mode.short)
    return [strong(cut(` ${fitting}`, columns))]
  }
  if (mode.kind === "filter") {
    const [hint] = HINTS.filter
    return [strong(" / "), plain(`${cutStart(filter, columns - hint.length - 6)}_`), faint(`  ${hint}`)]
  }
  if (mode.kind === "form") return hints(HINTS.form, columns)
  if (mode.kind === "help") return hints(HINTS.help, columns)
  if (notice !== null) {
    return [
      {
        text: cut(` ${notice.isBad ? "! " : ""}${notice.text}`, columns),
        tone: notice.isBad ? "bad" : "good",
      },
    ]
  }
  const shown = filter === "" ? [] : [strong(` filter: ${cut(filter, 20)} (Esc shows all) `)]
  const used = shown.reduce((sum, { text }) => sum + cellsOf(text), 0)
  return [...shown, ...hints(focus === "refused" ? HINTS.refused : HINTS.browse, columns - used)]
}

function hints(forms: readonly string[], columns: number): Span[] {
  return [faint(forms.find((form) => form.length <= columns) ?? cut(forms.at(-1) ?? "", columns))]
}

const LABELS: Readonly<Record<Field["name"], string>> = {
  address: "Address",
  lifetime: "For",
  reason: "Reason",
}

/** The lines of the form, the title first and what is wrong last. */
export function formLines(form: Form, { size, now }: Model): Span[][] {
  const room = size.columns - 13
  const note = remark(form, now)
  return [
    [{ text: cut(` ${ascii(form.title)}`, size.columns), tone: "heading" }],
    ...form.fields.map(({ name, text }, i) => {
      const isWriting = i === form.at
      const shown = `${cutStart(text, room - 1)}${isWriting ? "_" : ""}`
      return [
        strong(isWriting ? " > " : "   "),
        plain(LABELS[name].padEnd(9)),
        isWriting ? strong(shown) : plain(shown),
      ]
    }),
    form.problem !== null
      ? [{ text: cut(` ! ${form.problem}`, size.columns), tone: "bad" }]
      : [{ text: cut(note === null ? "" : ` ${note}`, size.columns), tone: "warning" }],
  ]
}

const HELP = [
  "up down j k     move            Tab Shift-Tab  other pane",
  "g G Home End    first, last     PgUp PgDn      a page",
  "",
  "a      let an address in: asks for how long, and why;",
  "       proposes the marked client or address of the log",
  "Enter  on a refused client: let it in for 1h, at once",
  "e      a new lifetime for a temporary entry, from now",
  "d      remove a temporary entry (asks first)",
  "p      let the marked address in for good (asks first)",
  "/      show only what contains a text    Esc  show all",
  "s      sort the pane by another column, marked with ^",
  "q  Ctrl-C       quit            Ctrl-L         draw anew",
] as const

export function helpLines({ columns }: Model["size"]): Span[][] {
  return [
    [{ text: " KEYS".padEnd(columns), tone: "heading" }],
    ...HELP.map((line) => [plain(cut(` ${line}`, columns))]),
  ]
}

function textOf(spans: readonly Span[]): string {
  return spans.map(({ text }) => text).join("")
}

const plain = (text: string): Span => ({ text, tone: "plain" })
const strong = (text: string): Span => ({ text, tone: "strong" })
const faint = (text: string): Span => ({ text, tone: "faint" })
