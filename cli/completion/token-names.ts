// The named tokens that can still be used, and so be revoked.

import { explainTokenName, type TokenRegistry } from "../../src/core/token.ts"
import { tokenList, wholeList } from "../whole-list.ts"
import type { Offer } from "./candidate.ts"

/** Rejects as the registry does: only the token of the token file may see them. */
export async function offerTokenNames(registry: TokenRegistry, typed: string): Promise<Offer> {
  const { rows } = await wholeList(tokenList(registry))
  const candidates = rows
    // Whatever answers there, only the name of a token may get on to a command line.
    .filter(
      ({ name, state }) => state === "active" && explainTokenName(name) === null && name.startsWith(typed),
    )
    .map(({ name, scope }) => ({ text: name, description: scope }))
  return { kind: "words", candidates }
}
