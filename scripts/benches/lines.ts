// What a child of the lab prints, line by line.

import { fate, mortal } from "./fate.ts"
import type { Child } from "./lab.ts"

export class Lines {
  private readonly chunks: AsyncIterator<Uint8Array>
  private readonly decoder = new TextDecoder()
  private rest = ""

  constructor(
    private readonly child: Child,
    private readonly name: string,
  ) {
    this.chunks = child.stdout[Symbol.asyncIterator]()
  }

  async next(): Promise<string> {
    for (;;) {
      const end = this.rest.indexOf("\n")
      if (end !== -1) {
        const line = this.rest.slice(0, end)
        this.rest = this.rest.slice(end + 1)
        return line
      }
      const { done, value } = await this.chunks.next()
      if (done) {
        throw new Error(`${this.name} has not answered: ${await fate(mortal(this.child))}`)
      }
      this.rest += this.decoder.decode(value, { stream: true })
    }
  }
}
