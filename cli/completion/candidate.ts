// What completion offers for one word, and what the shell is to do with it.

/** A whole word, or with `partial` offers the beginning of several; the description is shown where the shell can. */
export type Candidate = { readonly text: string; readonly description: string }

/** `files` and `directories` are left to the shell, which knows how to quote them. */
export type Offer =
  | { readonly kind: "words" | "partial"; readonly candidates: readonly Candidate[] }
  | { readonly kind: "files" | "directories" }

export const NOTHING: Offer = { kind: "words", candidates: [] }
