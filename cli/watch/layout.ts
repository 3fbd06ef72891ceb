// How the screen is divided: from its size alone, so that nothing jumps when rows come and go.

export type PaneName = "active" | "refused" | "log"

export const PANES: readonly PaneName[] = ["active", "refused", "log"]

export type Size = { readonly columns: number; readonly rows: number }

/** Rows of each pane below its heading; `null` if the window is too small for any pane. */
export type Layout = Readonly<Record<PaneName, number>> | null

/** Smaller windows still show what fits, down to this. */
const SMALLEST = { columns: 40, rows: 8 }

/** One line of status, three headings, and `bottom` lines at the end. */
export function layoutOf({ columns, rows }: Size, bottom: number): Layout {
  if (columns < SMALLEST.columns || rows < SMALLEST.rows) return null
  const free = Math.max(0, rows - 4 - bottom)
  const log = Math.floor(free * 0.25)
  const refused = Math.floor(free * 0.3)
  return { active: free - refused - log, refused, log }
}
