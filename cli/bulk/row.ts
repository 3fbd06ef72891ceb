// A row of a bulk file before it is understood: a line, a record or an item, by whatever format it came.

import type { COLUMNS } from "./bulk-format.ts"

/** What a row holds, by column. A cell that is not there says nothing, and no cell is empty but `ip`. */
export type Cells = Partial<Record<(typeof COLUMNS)[number], string>>

/** `number` is its line in the file or its place in the array, from 1. A text in place of cells is what is wrong with it. */
export type Row = { readonly number: number; readonly cells: Cells | string }
