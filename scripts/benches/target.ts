// A figure that has to reach something, and whether it does.

import { shown } from "./cell.ts"

export type Target = {
  readonly what: string
  readonly value: number
  readonly unit: string
  readonly must: "at least" | "at most"
  readonly target: number
  /** How the value came about, or why it is what it is. */
  readonly detail: string
}

export function isMet({ value, must, target }: Target): boolean {
  return must === "at least" ? value >= target : value <= target
}

export function verdict(target: Target): string {
  return isMet(target) ? "met" : "NOT MET"
}

export function claim(target: Target): string {
  const { what, value, must } = target
  return `${what}: ${shown(value)}${unitOf(target)}, target ${must} ${target.target}${unitOf(target)}`
}

export function unitOf({ unit }: Target): string {
  return unit === "" ? "" : ` ${unit}`
}
