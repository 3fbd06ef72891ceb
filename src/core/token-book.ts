// The named tokens that count, in memory: a request asks this and no database.

import type { Clock } from "./clock.ts"
import { Credential } from "./credential.ts"
import { Network } from "./network.ts"
import type { Principal } from "./principal.ts"
import { explainTokenName, isTokenScope, type StoredToken, type TokenState, type TokenUse } from "./token.ts"

type Held = {
  readonly name: string
  readonly digest: string
  /** `null` for a row that cannot be understood. */
  readonly credential: Credential | null
  lastUsedAt: number | null
  /** The last use is not in the database yet. */
  isUnsaved: boolean
  isRevoked: boolean
}

/**
 * Knows tokens by their SHA-256 digest. A lookup by digest needs no constant time: a secret has 256 random bits, and
 * whoever could learn something about a digest from the time that a lookup takes would still have to invert SHA-256.
 * A token ends at the earlier of two deadlines, on the wall clock and on the monotonic one counted from when it was
 * learned, as a temporary entry does: a clock that is set back lengthens nothing.
 */
export class TokenBook {
  private readonly byDigest = new Map<string, Held>()
  private readonly byName = new Map<string, Held>()

  constructor(private readonly clock: Clock) {}

  /** Takes tokens in that it does not know yet; returns how many of those make no sense, and let nobody in. */
  learn(tokens: Iterable<StoredToken>): number {
    let bad = 0
    for (const token of tokens) {
      if (this.byName.has(token.name)) continue
      const credential = this.credentialOf(token)
      if (credential === null) bad++
      const held: Held = {
        name: token.name,
        digest: token.digest,
        credential,
        lastUsedAt: token.lastUsedAt,
        isUnsaved: false,
        isRevoked: token.revokedAt !== null,
      }
      this.byName.set(token.name, held)
      if (held.isRevoked) credential?.end()
      else this.byDigest.set(token.digest, held)
    }
    return bad
  }

  /** From here on the token of this name is refused, and what it has open ends. */
  revoke(name: string): void {
    const held = this.byName.get(name)
    if (held === undefined) return
    held.isRevoked = true
    this.byDigest.delete(held.digest)
    held.credential?.end()
  }

  /** The token with this digest, if it counts; that is remembered as its last use. */
  find(digest: string): Credential | null {
    const held = this.byDigest.get(digest)
    if (held === undefined || held.credential === null || !held.credential.counts) return null
    held.lastUsedAt = this.clock.wall()
    held.isUnsaved = true
    return held.credential
  }

  /** Ends what the tokens have open whose time is over. Requests need no such help: they compare the deadlines. */
  endExpired(): void {
    for (const { credential } of this.byDigest.values()) void credential?.counts
  }

  stateOf(name: string): TokenState {
    const held = this.byName.get(name)
    if (held === undefined || held.credential === null) return "invalid"
    if (held.isRevoked) return "revoked"
    return held.credential.counts ? "active" : "expired"
  }

  lastUseOf(name: string): number | null {
    return this.byName.get(name)?.lastUsedAt ?? null
  }

  /** The last uses that nobody has taken yet, to write them down. */
  takeUses(): TokenUse[] {
    const uses: TokenUse[] = []
    for (const held of this.byName.values()) {
      if (!held.isUnsaved || held.lastUsedAt === null) continue
      held.isUnsaved = false
      uses.push({ name: held.name, at: held.lastUsedAt })
    }
    return uses
  }

  /** Uses that could not be written down are to be taken again. */
  giveBack(uses: readonly TokenUse[]): void {
    for (const { name } of uses) {
      const held = this.byName.get(name)
      if (held !== undefined) held.isUnsaved = true
    }
  }

  private credentialOf(token: StoredToken): Credential | null {
    const principal = principalOf(token)
    if (principal === null) return null
    if (token.expiresAt === null) return new Credential(principal)
    const { clock } = this
    const wallEnd = token.expiresAt
    const monoEnd = clock.mono() + (wallEnd - clock.wall())
    return new Credential(principal, () => !(clock.wall() < wallEnd && clock.mono() < monoEnd))
  }
}

/**
 * `null` for a row that is not understood whole: a limit that is lost would be a power that nobody gave, and by a name that
 * nobody can have given the token could not be revoked.
 */
function principalOf({ name, scope, maxTtlSeconds, within }: StoredToken): Principal | null {
  const network = within === null ? null : Network.parse(within)
  if (explainTokenName(name) !== null || !isTokenScope(scope) || (within !== null && network === null))
    return null
  return { name, scope, maxTtlSeconds, within: network }
}
