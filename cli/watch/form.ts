// The form at the bottom of the screen: what is asked before an entry is added or gets a new lifetime.

import { formatDuration, parseDuration } from "../../src/core/duration.ts"
import { explainReason, isTtl, LONGEST_TTL_SECONDS } from "../../src/core/entry.ts"
import { explainNetwork } from "../../src/core/explain.ts"
import { Network } from "../../src/core/network.ts"
import { remaining } from "../times.ts"
import { explainWide } from "../wide-network.ts"
import type { ActiveEntry } from "./active-entries.ts"

export type FieldName = "address" | "lifetime" | "reason"

/** What is proposed goes as soon as something else is typed. */
export type Field = { readonly name: FieldName; readonly text: string; readonly isProposal: boolean }

export type Form = {
  readonly title: string
  readonly fields: readonly Field[]
  /** Which field is being written in. */
  readonly at: number
  /** Why it could not be sent. */
  readonly problem: string | null
  /** The entry that it replaces. */
  readonly entry: ActiveEntry | null
}

export type FilledForm = {
  readonly network: Network
  readonly ttlSeconds: number
  readonly reason: string | null
}

export const PROPOSED_LIFETIME = "1h"

/** Beyond this a text is neither an address nor a reason. */
const LONGEST_TEXT = 1_000

export function allowForm(ip: string): Form {
  return {
    title: "Let an address or a network in",
    fields: [
      { name: "address", text: ip, isProposal: ip !== "" },
      { name: "lifetime", text: PROPOSED_LIFETIME, isProposal: true },
      { name: "reason", text: "", isProposal: false },
    ],
    at: ip === "" ? 0 : 1,
    problem: null,
    entry: null,
  }
}

/** Proposes as long as the entry was granted for, so that nothing gets shorter by pressing Enter. */
export function extendForm(entry: ActiveEntry): Form {
  const lifetime = formatDuration(Math.ceil(entry.lifetime / 1000))
  return {
    title: `A new lifetime for ${entry.ip}, from now`,
    fields: [
      { name: "lifetime", text: lifetime, isProposal: true },
      { name: "reason", text: entry.reason, isProposal: entry.reason !== "" },
    ],
    at: 0,
    problem: null,
    entry,
  }
}

/** Writes at the end of the field, in place of a proposal. */
export function typed(form: Form, text: string): Form {
  return edited(form, (field) => `${field.isProposal ? "" : field.text}${text}`.slice(0, LONGEST_TEXT))
}

export function erased(form: Form): Form {
  return edited(form, ({ text }) => [...text].slice(0, -1).join(""))
}

export function cleared(form: Form): Form {
  return edited(form, () => "")
}

/** To another field, `distance` further, round and round. */
export function turned(form: Form, distance: number): Form {
  const count = form.fields.length
  return { ...form, at: (form.at + distance + count) % count, problem: null }
}

export function isLastField(form: Form): boolean {
  return form.at === form.fields.length - 1
}

/** What the form says, or the form with the first problem, at the field that has it. */
export function filled(form: Form): FilledForm | Form {
  const ip = form.entry?.ip ?? textOf(form, "address").trim()
  const network = Network.parse(ip)
  if (network === null) return withProblem(form, "address", ip === "" ? "which address?" : explainNetwork(ip))
  const wide = explainWide(network)
  if (wide !== null)
    return withProblem(form, "address", `${wide}; use \`ipgate allow --force\` if you mean it`)
  const ttlSeconds = parseDuration(textOf(form, "lifetime").trim())
  if (ttlSeconds === null) {
    return withProblem(form, "lifetime", "no duration: use 90s, 30m, 8h, 1h30m, 7d or 2w")
  }
  if (!isTtl(ttlSeconds)) {
    return withProblem(form, "lifetime", `a lifetime is 1 s to ten years (${LONGEST_TTL_SECONDS} s)`)
  }
  const reason = textOf(form, "reason")
  const fault = explainReason(reason)
  if (fault !== null) return withProblem(form, "reason", fault)
  return { network, ttlSeconds, reason: reason === "" ? null : reason }
}

export function isFilled(form: FilledForm | Form): form is FilledForm {
  return "network" in form
}

/** A remark while nothing is wrong: that the new lifetime ends before the present one. */
export function remark(form: Form, now: number): string | null {
  const seconds = parseDuration(textOf(form, "lifetime").trim())
  if (form.entry === null || seconds === null || now + seconds * 1000 >= form.entry.expiresAt) return null
  return `this is shorter: ${remaining(form.entry.expiresAt, now)} are left now`
}

function textOf({ fields }: Form, name: FieldName): string {
  return fields.find((field) => field.name === name)?.text ?? ""
}

function withProblem(form: Form, name: FieldName, problem: string): Form {
  const at = form.fields.findIndex((field) => field.name === name)
  return { ...form, at: at === -1 ? form.at : at, problem }
}

function edited(form: Form, edit: (field: Field) => string): Form {
  const fields = form.fields.map((field, i) =>
    i === form.at ? { ...field, text: edit(field), isProposal: false } : field,
  )
  return { ...form, fields, problem: null }
}
