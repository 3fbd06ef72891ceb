// The addresses by which a machine reaches itself, and nobody else reaches it.

import { Network } from "./network.ts"

export const LOOPBACK: readonly Network[] = ["127.0.0.0/8", "::1"].flatMap(
  (text) => Network.parse(text) ?? [],
)
