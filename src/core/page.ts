// A page of a list: how many rows, after how many others.

export const DEFAULT_LIMIT = 200
export const LARGEST_LIMIT = 1000

export type Page = { readonly limit: number; readonly offset: number }
