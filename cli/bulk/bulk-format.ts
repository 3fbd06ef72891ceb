// The file formats of import and export, and which one a file has.

import { UsageError } from "../exit.ts"

export const BULK_FORMATS = ["values", "csv", "json"] as const

/** `values`: one network a line. `csv`: with a header. `json`: an array of objects. */
export type BulkFormat = (typeof BULK_FORMATS)[number]

/** The columns of CSV and the members of JSON. */
export const COLUMNS = ["ip", "list", "ttl", "expires", "reason"] as const

const EXTENSIONS: Readonly<Record<string, BulkFormat>> = {
  txt: "values",
  list: "values",
  csv: "csv",
  json: "json",
}

/** The format that was asked for, or the one that the name's extension tells. */
export function formatOf(path: string, asked: BulkFormat | undefined): BulkFormat {
  if (asked !== undefined) return asked
  if (path === "-")
    throw new UsageError("the format of standard input is not known", "add --format values, csv or json")
  const extension = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ""
  const format = EXTENSIONS[extension]
  if (format !== undefined) return format
  throw new UsageError(
    `the format of ${path} is not known by its name (.txt, .list, .csv, .json)`,
    "add --format values, csv or json",
  )
}
