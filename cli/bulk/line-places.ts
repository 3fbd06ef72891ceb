// Where in the file each line for the gate comes from: the gate counts the lines that it gets.

import { GateError } from "../../src/core/errors.ts"

export class LinePlaces {
  private numbers = new Uint32Array(1024)
  private used = 0

  /** `name` is what the file is called, `place` what its numbers count. */
  constructor(
    private readonly name: string,
    private readonly place: "line" | "entry",
  ) {}

  /** The next line for the gate comes from this place of the file. */
  add(number: number): void {
    if (this.used === this.numbers.length) {
      this.numbers = new Uint32Array(this.numbers.buffer.transfer(this.numbers.byteLength * 2))
    }
    this.numbers[this.used++] = number
  }

  /** The same error with the places of the file, if it names lines. */
  inFile(error: unknown): unknown {
    if (!(error instanceof GateError) || error.code !== "invalid" || !/^line \d+: /.test(error.message))
      return error
    const problems = error.message.replace(/^line (\d+): /gm, (words, line: string) => {
      const number = Number(line) <= this.used ? this.numbers[Number(line) - 1] : undefined
      return number === undefined ? words : `${this.place} ${number}: `
    })
    const { cause, hint } = error
    return new GateError("invalid", `${this.name} was refused, and nothing was changed\n${problems}`, {
      cause,
      ...(hint === undefined ? {} : { hint }),
    })
  }
}
