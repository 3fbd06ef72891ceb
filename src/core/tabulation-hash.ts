// A hash of prefixes that nobody outside can foresee, so that nobody can choose entries that collide.

/** How many values a byte has. Each byte has a row of so many numbers, and the length has the first one. */
const VALUES = 256

/** Fills the array with numbers that nobody can guess. */
export type RandomNumbers = (numbers: Int32Array<ArrayBuffer>) => Int32Array<ArrayBuffer>

const unguessable: RandomNumbers = (numbers) => crypto.getRandomValues(numbers)

/**
 * Simple tabulation: each byte, and the length, picks a random number, and the hash is all of them in an exclusive or.
 * A table with linear probing then takes a few probes for any prefixes that were chosen by somebody who does not know the
 * numbers (Pătraşcu and Thorup, "The Power of Simple Tabulation Hashing", Journal of the ACM 59, 2012). A hash that is the
 * same everywhere can be solved for addresses that all collide: a hundred thousand of them held every decision for
 * seconds.
 */
export class TabulationHash {
  private readonly numbers: Int32Array

  constructor(
    private readonly words: 1 | 4,
    random: RandomNumbers = unguessable,
  ) {
    this.numbers = random(new Int32Array((1 + words * 4) * VALUES))
  }

  /** 32 bits, signed, each as random as the others. `length` is a small number, from 0 to 255, that counts too. */
  of(word0: number, word1: number, word2: number, word3: number, length: number): number {
    const { numbers } = this
    const hash = (numbers[length] as number) ^ ofWord(numbers, 1, word0)
    if (this.words === 1) return hash
    return hash ^ ofWord(numbers, 5, word1) ^ ofWord(numbers, 9, word2) ^ ofWord(numbers, 13, word3)
  }
}

function ofWord(numbers: Int32Array, row: number, word: number): number {
  const from = row * VALUES
  return (
    (numbers[from + (word >>> 24)] as number) ^
    (numbers[from + VALUES + ((word >>> 16) & 0xff)] as number) ^
    (numbers[from + 2 * VALUES + ((word >>> 8) & 0xff)] as number) ^
    (numbers[from + 3 * VALUES + (word & 0xff)] as number)
  )
}
