// Is the token of a request one of ours? Told in constant time, on digests.

import { createHash, timingSafeEqual } from "node:crypto"

/** Checks the `Authorization` header of a request. */
export class BearerTokens {
  private readonly digests: readonly Buffer[]

  constructor(tokens: readonly string[]) {
    this.digests = tokens.map(digest)
  }

  /**
   * True for `Bearer` (in any case), one or more spaces, and a known token. Every token is compared, and all by their
   * digests, so neither the length nor a common beginning shows in the time that it takes.
   */
  accepts(request: Request): boolean {
    const credentials = /^Bearer +([\x21-\x7e]+)$/i.exec(request.headers.get("Authorization") ?? "")?.[1]
    if (credentials === undefined) return false
    const presented = digest(credentials)
    let accepted = false
    for (const known of this.digests) {
      if (timingSafeEqual(known, presented)) accepted = true
    }
    return accepted
  }
}

function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest()
}
