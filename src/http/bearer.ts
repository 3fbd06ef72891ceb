// Whose token does a request show? Told on digests, so that no time that it takes gives a token away.

import { Credential } from "../core/credential.ts"
import { TOKEN_FILE } from "../core/principal.ts"
import type { TokenBook } from "../core/token-book.ts"
import { digestOfToken } from "../token-secret.ts"

/** `absent`: no token is shown, or nothing that could be one. `unknown`: wrong, revoked, or its time is over. */
export type Shown = Credential | "absent" | "unknown"

/** RFC 6750, section 2.1, with more than one space allowed. */
const CREDENTIALS = /^Bearer +([\x21-\x7e]+)$/i

type FileToken = { readonly digest: Buffer; readonly credential: Credential }

/** Checks the `Authorization` header of a request. */
export class BearerTokens {
  private file: readonly FileToken[] = []

  /** `named` are the tokens of the database; those of the token file may do everything. */
  constructor(
    fileTokens: readonly string[],
    private readonly named: Pick<TokenBook, "find"> | null = null,
  ) {
    this.replaceFileTokens(fileTokens)
  }

  /** From here on these are the tokens of the token file; what the others have open ends. */
  replaceFileTokens(tokens: readonly string[]): void {
    const before = this.file
    this.file = tokens.map((token) => {
      const digest = digestOfToken(token)
      const same = before.find((one) => one.digest.equals(digest))
      return same ?? { digest, credential: new Credential(TOKEN_FILE) }
    })
    for (const one of before) if (!this.file.includes(one)) one.credential.end()
  }

  /**
   * For `Bearer` (in any case), one or more spaces, and a known token, what that token is. Whatever is shown, the same
   * work is done: each token of the file is compared, all by their digests, and then the named ones are looked up. So
   * neither a length, nor a common beginning, nor a token that was good once shows in the time that it takes.
   */
  verify(request: Request): Shown {
    const token = CREDENTIALS.exec(request.headers.get("Authorization") ?? "")?.[1]
    if (token === undefined) return "absent"
    const presented = digestOfToken(token)
    let found: Credential | null = null
    for (const { digest, credential } of this.file) {
      if (crypto.timingSafeEqual(digest, presented)) found = credential
    }
    const named = this.named?.find(presented.toString("hex")) ?? null
    return found ?? named ?? "unknown"
  }
}
