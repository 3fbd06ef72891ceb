// What a key does: the other half of the state machine, beside the news from the server.

import { parseDuration } from "../../src/core/duration.ts"
import { Network } from "../../src/core/network.ts"
import { explainWide } from "../wide-network.ts"
import { ACTIVE_ORDERS } from "./active-entries.ts"
import {
  allowForm,
  cleared,
  erased,
  extendForm,
  type Form,
  filled,
  isFilled,
  isLastField,
  PROPOSED_LIFETIME,
  turned,
  typed,
} from "./form.ts"
import { layoutOf, PANES } from "./layout.ts"
import { keyOf, type Model, markedIp, type Pane, rearranged, type Task } from "./model.ts"
import { moved } from "./selection.ts"

/** A key of the keyboard that writes nothing. */
export type KeyName =
  | "up"
  | "down"
  | "page-up"
  | "page-down"
  | "home"
  | "end"
  | "tab"
  | "back-tab"
  | "enter"
  | "escape"
  | "erase"
  | "clear"
  | "redraw"
  | "quit"

/** A pasted text writes, but never gives an order. */
export type Key =
  | { readonly kind: "key"; readonly name: KeyName }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "pasted"; readonly text: string }

export type Step = { readonly model: Model; readonly task: Task | null }

export function pressed(model: Model, key: Key): Step {
  if (key.kind === "key" && key.name === "quit") return { model, task: { kind: "quit" } }
  if (key.kind === "key" && key.name === "redraw") return { model, task: { kind: "redraw" } }
  const step = inMode({ ...model, notice: null }, key)
  if (step.task === null || step.task.kind === "quit") return step
  return { ...step, model: withRemark(step.model, "asking the server …") }
}

function inMode(model: Model, key: Key): Step {
  switch (model.mode.kind) {
    case "browse":
      return browse(model, key)
    case "filter":
      return only(inFilter(model, key))
    case "form":
      return inForm(model, model.mode.form, key)
    case "confirm": {
      const { task } = model.mode
      const isYes = key.kind === "text" && (key.text === "y" || key.text === "Y")
      return { model: browsing(model), task: isYes ? task : null }
    }
    case "help":
      return only(browsing(model))
  }
}

function browse(model: Model, key: Key): Step {
  if (key.kind === "pasted") return only(model)
  switch (key.kind === "text" ? key.text : key.name) {
    case "up":
    case "k":
      return only(withMark(model, -1))
    case "down":
    case "j":
      return only(withMark(model, 1))
    case "page-up":
      return only(withMark(model, -pageOf(model)))
    case "page-down":
      return only(withMark(model, pageOf(model)))
    case "home":
    case "g":
      return only(withMark(model, Number.NEGATIVE_INFINITY))
    case "end":
    case "G":
      return only(withMark(model, Number.POSITIVE_INFINITY))
    case "tab":
      return only(withFocus(model, 1))
    case "back-tab":
      return only(withFocus(model, -1))
    case "enter":
      return enter(model)
    case "a":
      return only(openForm(model, allowForm(model.focus === "active" ? "" : (markedIp(model) ?? ""))))
    case "e":
      return only(extend(model))
    case "d":
      return only(remove(model))
    case "p":
      return only(makePermanent(model))
    case "s":
      return only(sorted(model))
    case "/":
      return only({ ...model, mode: { kind: "filter" } })
    case "escape":
      return only(rearranged({ ...model, filter: "" }))
    case "?":
      return only({ ...model, mode: { kind: "help" } })
    case "q":
      return { model, task: { kind: "quit" } }
    default:
      return only(model)
  }
}

/** On a refused client, one key is enough; elsewhere Enter asks. */
function enter(model: Model): Step {
  if (model.focus === "active") return only(extend(model))
  const ip = markedIp(model)
  if (ip === null) return only(nothingMarked(model))
  if (model.focus === "log") return only(openForm(model, allowForm(ip)))
  const network = Network.parse(ip)
  if (network === null) return only(noNetwork(model, ip))
  const ttlSeconds = parseDuration(PROPOSED_LIFETIME) ?? 0
  return { model, task: { kind: "allow", network, ttlSeconds, reason: null } }
}

function extend(model: Model): Model {
  const ip = markedIp(model)
  if (ip === null) return nothingMarked(model)
  const entry = model.entries.get(ip)
  return entry === undefined ? notListed(model, ip) : openForm(model, extendForm(entry))
}

function remove(model: Model): Model {
  const ip = markedIp(model)
  if (ip === null) return nothingMarked(model)
  if (!model.entries.has(ip)) return notListed(model, ip)
  const network = Network.parse(ip)
  if (network === null) return noNetwork(model, ip)
  return asking(model, `Remove ${ip} from the temporary list?`, `Remove ${ip}?`, { kind: "remove", network })
}

function makePermanent(model: Model): Model {
  const ip = markedIp(model)
  if (ip === null) return nothingMarked(model)
  const network = Network.parse(ip)
  if (network === null) return noNetwork(model, ip)
  const wide = explainWide(network)
  if (wide !== null) return withProblem(model, `${wide}; use \`ipgate allow --force\` if you mean it`)
  const question = `Let ${ip} in for good, on the permanent list?`
  return asking(model, question, `Let ${ip} in for good?`, { kind: "make-permanent", network })
}

function sorted(model: Model): Model {
  if (model.focus === "log") return withRemark(model, "the log is always in its own order, newest first")
  if (model.focus === "refused") {
    const refusedOrder = model.refusedOrder === "count" ? "last seen" : "count"
    return withRemark(rearranged({ ...model, refusedOrder }), `refused clients by ${refusedOrder}`)
  }
  const next = (ACTIVE_ORDERS.indexOf(model.activeOrder) + 1) % ACTIVE_ORDERS.length
  const activeOrder = ACTIVE_ORDERS[next] ?? "time left"
  return withRemark(rearranged({ ...model, activeOrder }), `temporary entries by ${activeOrder}`)
}

function inFilter(model: Model, key: Key): Model {
  const filtered = (filter: string) => rearranged({ ...model, filter })
  if (key.kind !== "key") return filtered(model.filter + oneLine(key.text))
  switch (key.name) {
    case "enter":
    case "tab":
      return browsing(model)
    case "escape":
      return browsing(filtered(""))
    case "erase":
      return filtered([...model.filter].slice(0, -1).join(""))
    case "clear":
      return filtered("")
    default:
      return model
  }
}

function inForm(model: Model, form: Form, key: Key): Step {
  if (key.kind !== "key") return only(openForm(model, typed(form, oneLine(key.text))))
  switch (key.name) {
    case "escape":
      return only(browsing(model))
    case "tab":
    case "down":
      return only(openForm(model, turned(form, 1)))
    case "back-tab":
    case "up":
      return only(openForm(model, turned(form, -1)))
    case "erase":
      return only(openForm(model, erased(form)))
    case "clear":
      return only(openForm(model, cleared(form)))
    case "enter":
      return isLastField(form) ? submitted(model, form) : only(openForm(model, turned(form, 1)))
    default:
      return only(model)
  }
}

function submitted(model: Model, form: Form): Step {
  const result = filled(form)
  if (!isFilled(result)) return only(openForm(model, result))
  return { model: browsing(model), task: { kind: "allow", ...result } }
}

function withMark(model: Model, distance: number): Model {
  const { focus, active, refused, logged } = model
  if (focus === "active") return { ...model, active: marked(active, distance, keyOf.active) }
  if (focus === "refused") return { ...model, refused: marked(refused, distance, keyOf.refused) }
  return { ...model, logged: marked(logged, distance, keyOf.log) }
}

function marked<Row>(pane: Pane<Row>, distance: number, key: (row: Row) => string): Pane<Row> {
  const keyAt = (index: number) => key(pane.rows[index] as Row)
  return { ...pane, selection: moved(pane.selection, distance, { count: pane.rows.length, keyAt }) }
}

function withFocus(model: Model, distance: number): Model {
  const next = (PANES.indexOf(model.focus) + distance + PANES.length) % PANES.length
  return { ...model, focus: PANES[next] ?? "active" }
}

function pageOf(model: Model): number {
  return Math.max(1, (layoutOf(model.size, 1)?.[model.focus] ?? 1) - 1)
}

/** A pasted line may end in a line feed, and what comes after it is not meant for this field. */
function oneLine(text: string): string {
  return (/^[\r\n]*([^\r\n]*)/.exec(text)?.[1] ?? "").replaceAll("\t", " ")
}

function only(model: Model): Step {
  return { model, task: null }
}

function browsing(model: Model): Model {
  return { ...model, mode: { kind: "browse" } }
}

function asking(model: Model, question: string, short: string, task: Task): Model {
  return { ...model, mode: { kind: "confirm", question, short, task } }
}

function openForm(model: Model, form: Form): Model {
  return { ...model, mode: { kind: "form", form } }
}

function nothingMarked(model: Model): Model {
  return withProblem(model, "nothing is marked: move with the arrows first")
}

function notListed(model: Model, ip: string): Model {
  return withProblem(model, `${ip} is not among the temporary entries`)
}

function noNetwork(model: Model, ip: string): Model {
  return withProblem(model, `${ip} is no address: the database holds a row that ipgate did not write`)
}

function withProblem(model: Model, text: string): Model {
  return { ...model, notice: { text, isBad: true } }
}

function withRemark(model: Model, text: string): Model {
  return { ...model, notice: { text, isBad: false } }
}
