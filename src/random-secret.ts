// Text that nobody can guess.

/** 256 random bits. Not by `node:crypto`, which every command would load for it. */
export function randomSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url")
}
