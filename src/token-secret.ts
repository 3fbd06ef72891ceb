// The secret of an API token: random, told once, and kept only as its SHA-256.

import { randomSecret } from "./random-secret.ts"

/** By this a scanner of repositories and logs knows a lost secret for one of ours. */
export const SECRET_PREFIX = "ipgate_"

/** The digest is hexadecimal. */
export type TokenSecret = { readonly secret: string; readonly digest: string }

/** A new secret of 256 random bits. */
export function newTokenSecret(): TokenSecret {
  const secret = SECRET_PREFIX + randomSecret()
  return { secret, digest: digestOfToken(secret).toString("hex") }
}

/** SHA-256. A slow hash would protect only what can be guessed, and nobody guesses 256 bits. */
export function digestOfToken(token: string): Buffer {
  return Bun.CryptoHasher.hash("sha256", token)
}
