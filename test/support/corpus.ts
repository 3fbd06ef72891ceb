// The address corpus: text as it arrives, and what must become of it.

import rows from "../corpus/ip-corpus.json"

export type CorpusRow = {
  readonly input: string
  /** `address`: one client address. `network`: an entry of a list, bare address or CIDR. */
  readonly kind: "address" | "network"
  readonly valid: boolean
  /** `null` when invalid. */
  readonly canonical: string | null
  readonly source: string
  readonly why: string
  /** Only on rows that are refused for their host bits: `true`, and the network that was probably meant. */
  readonly host_bits?: boolean
  readonly masked?: string
}

export const CORPUS = rows as readonly CorpusRow[]

export const ADDRESS_ROWS = CORPUS.filter((row) => row.kind === "address")
export const NETWORK_ROWS = CORPUS.filter((row) => row.kind === "network")

/** These `address` rows are no single address, and good entries of a list: what they are there. */
export const ADDRESS_ROWS_GOOD_AS_NETWORKS: ReadonlyMap<string, string> = new Map([
  ["1.2.3.4/32", "1.2.3.4"],
  ["::1/128", "::1"],
])
