// A cell of a table, and a figure as a reader wants it.

export type Cell = string | number

/** Three digits that count; nothing after the point where there are more before it. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return "-"
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toFixed(digits).replace(/\B(?=(\d{3})+$)/g, digits === 0 ? "," : "")
}

export function cellText(cell: Cell): string {
  return typeof cell === "number" ? shown(cell) : cell
}
