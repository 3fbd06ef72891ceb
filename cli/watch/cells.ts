// Text as cells of a terminal: measured, cut and padded so that no text can break a column or a line.

import { printable } from "../../src/core/printable.ts"

const ASCII = /^[\x20-\x7e]*$/
const clusters = new Intl.Segmenter("en", { granularity: "grapheme" })

/**
 * The cells that a text takes at most. Terminals differ about emoji that are joined of several characters: some draw
 * one, some draw all of them side by side. So the larger count stands, and such a text can only end early.
 */
export function cellsOf(text: string): number {
  if (ASCII.test(text)) return text.length
  let cells = 0
  for (const { segment } of clusters.segment(text)) cells += cellsOfCluster(segment)
  return cells
}

/** `text` made printable, and cut with an ellipsis to at most `width` cells. */
export function cut(text: string, width: number): string {
  const shown = shownAs(text)
  if (cellsOf(shown) <= width) return shown
  return width < 1 ? "" : `${fitting(shown, width - 1)}…`
}

/** The end of a text, for a field in which somebody is writing. */
export function cutStart(text: string, width: number): string {
  const shown = shownAs(text)
  if (cellsOf(shown) <= width) return shown
  const reversed = [...clusters.segment(shown)].map(({ segment }) => segment).reverse()
  let kept = ""
  let cells = 1
  for (const cluster of reversed) {
    cells += cellsOfCluster(cluster)
    if (cells > width) break
    kept = cluster + kept
  }
  return `…${kept}`
}

/**
 * Exactly `width` cells, for a column that others follow: everything but ASCII is escaped, because only there do all
 * terminals agree.
 */
export function column(text: string, width: number): string {
  return cut(ascii(text), width).padEnd(width)
}

/** The same, at the right end of the column. */
export function rightColumn(text: string, width: number): string {
  return cut(ascii(text), width).padStart(width)
}

/** `text` with everything but printable ASCII escaped. */
export function ascii(text: string): string {
  return printable(text).replace(
    /[^\x20-\x7e]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}

/** Printable, and without towers of combining marks, which would reach into the lines above and below. */
function shownAs(text: string): string {
  return printable(text).replace(/(\p{M}{4})\p{M}+/gu, "$1…")
}

function fitting(text: string, width: number): string {
  if (ASCII.test(text)) return text.slice(0, width)
  let kept = ""
  let cells = 0
  for (const { segment } of clusters.segment(text)) {
    cells += cellsOfCluster(segment)
    if (cells > width) break
    kept += segment
  }
  return kept
}

function cellsOfCluster(cluster: string): number {
  let apart = 0
  for (const character of cluster) apart += Bun.stringWidth(character)
  return Math.max(apart, Bun.stringWidth(cluster))
}
