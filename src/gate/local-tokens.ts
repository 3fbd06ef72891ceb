// The named tokens where the database is. Nothing else makes or ends one.

import type { Actor } from "../core/change.ts"
import { type Clock, LATEST_TIME } from "../core/clock.ts"
import { GateError, invalid } from "../core/errors.ts"
import type { Page } from "../core/page.ts"
import { forbidden, mayManageTokens, type Principal } from "../core/principal.ts"
import {
  explainToken,
  type StoredToken,
  type Token,
  type TokenRegistry,
  type TokenRequest,
} from "../core/token.ts"
import type { TokenBook } from "../core/token-book.ts"
import type { CommitQueue } from "../store/commit-queue.ts"
import type { TokenStore } from "../store/token-store.ts"
import type { Health } from "./health.ts"

export type LocalTokensParts = {
  readonly store: TokenStore
  readonly queue: CommitQueue
  readonly health: Health
  readonly book: TokenBook
  readonly clock: Clock
  /** A new random secret with its SHA-256 in hexadecimal. */
  readonly newSecret: () => { readonly secret: string; readonly digest: string }
}

export class LocalTokens implements TokenRegistry {
  constructor(
    private readonly parts: LocalTokensParts,
    private readonly by: Actor = null,
    private readonly principal: Principal | null = null,
  ) {}

  /**
   * The same tokens, for this client, and with the powers of this principal: unless those are all there are, every
   * call rejects with `forbidden`. What has not come from here is for this process itself.
   */
  as(by: Actor, principal: Principal): LocalTokens {
    return new LocalTokens(this.parts, by, principal)
  }

  async create(request: TokenRequest): Promise<{ token: Token; secret: string }> {
    this.refuseOthers()
    const fault = explainToken(request)
    if (fault !== null) throw invalid(fault)
    const { store, queue, health, book } = this.parts
    const { secret, digest } = this.parts.newSecret()
    return queue.exclusive(async () => {
      const token = this.stamped(request, digest)
      if ((await health.watchWrite(store.addToken(token))) === "conflict") {
        throw new GateError("conflict", `there is, or was, a token of the name ${token.name}`, {
          hint: "a name is used once, so that the log stays clear: take another",
        })
      }
      book.learn([token])
      return { token: this.shown(token), secret }
    })
  }

  async list({ limit, offset }: Page): Promise<Token[]> {
    this.refuseOthers()
    const { store, health, book } = this.parts
    const tokens = await health.watchRead(store.tokens())
    // One whose maker gave up waiting is in the database all the same.
    book.learn(tokens)
    return tokens.slice(offset, offset + limit).map((token) => this.shown(token))
  }

  async revoke(name: string): Promise<"revoked" | "unchanged" | "absent"> {
    this.refuseOthers()
    const { store, queue, health, book, clock } = this.parts
    // In memory first: what follows may fail or take its time, and the token must not count meanwhile.
    book.revoke(name)
    try {
      return await queue.exclusive(async () => health.watchWrite(store.revokeToken(name, clock.wall())))
    } catch (cause) {
      if (!(cause instanceof GateError)) throw cause
      throw new GateError(
        cause.code,
        `${cause.message}; the token is refused from now on, but after a restart it would count again: repeat it`,
        { cause },
      )
    } finally {
      // Once more, whatever came of it: a request that was there before may have made the token meanwhile.
      book.revoke(name)
    }
  }

  /** Writes down when tokens were used last. No request waits for it; what fails is tried again the next time. */
  async saveUses(): Promise<void> {
    const { store, book } = this.parts
    const uses = book.takeUses()
    if (uses.length === 0) return
    try {
      await store.recordTokenUses(uses)
    } catch {
      book.giveBack(uses)
    }
  }

  private refuseOthers(): void {
    const { principal, by } = this
    if (principal !== null && !mayManageTokens(principal)) throw forbidden(principal, by)
  }

  private stamped(
    { name, scope, maxTtlSeconds, within, lifetimeSeconds }: TokenRequest,
    digest: string,
  ): StoredToken {
    const createdAt = this.parts.clock.wall()
    const expiresAt = lifetimeSeconds === null ? null : createdAt + lifetimeSeconds * 1000
    if (createdAt < 0 || (expiresAt ?? createdAt) > LATEST_TIME) {
      throw new GateError("failed", "the clock of this machine is wrong: no token can be made")
    }
    return {
      name,
      digest,
      scope,
      maxTtlSeconds,
      within: within?.toString() ?? null,
      createdAt,
      expiresAt,
      lastUsedAt: null,
      revokedAt: null,
    }
  }

  private shown({ digest: _, ...token }: StoredToken): Token {
    const { book } = this.parts
    return { ...token, lastUsedAt: book.lastUseOf(token.name), state: book.stateOf(token.name) }
  }
}
