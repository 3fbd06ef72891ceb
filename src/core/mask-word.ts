// A word of an address, cut to the first bits of a prefix.

/**
 * The first `bits` bits of the word, as a signed integer, and zeros behind them. All of it from 32 on, nothing of it up
 * to 0: so the same length, less 32 for each word before, masks every word of an address.
 */
export function maskWord(word: number, bits: number): number {
  // A shift takes its count modulo 32, so the two ends need a branch of their own.
  if (bits >= 32) return word | 0
  return bits <= 0 ? 0 : word & (-1 << (32 - bits))
}
