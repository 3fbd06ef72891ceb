// A small number in decimal digits, written as bytes.

const ZERO = 48

/** Writes a whole number of at most three digits, without leading zeros, at `at`; returns where it ends. */
export function writeDecimal(value: number, out: Uint8Array, at: number): number {
  let end = at
  if (value > 99) out[end++] = ZERO + Math.floor(value / 100)
  if (value > 9) out[end++] = ZERO + (Math.floor(value / 10) % 10)
  out[end++] = ZERO + (value % 10)
  return end
}
