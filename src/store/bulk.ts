// Reading a bulk of entries before anything is written: every line checked, each network once, in the order of the lists.

import { type EntryLine, linesOf, parseEntryLine } from "../core/entry-line.ts"
import { invalid } from "../core/errors.ts"
import type { Network } from "../core/network.ts"
import { NetworkIndex } from "../core/network-index.ts"
import { SortedNetworks } from "./sorted-networks.ts"
import { TemporaryLines } from "./temporary-lines.ts"

/** A hundred bad lines are enough to see what is wrong; a million of them would be an answer of megabytes. */
const REPORTED_LINES = 100

/** Lines that are read before their garbage is collected: it is several times what is kept of them. */
const COLLECT_EVERY = 100_000

const ON_LIST = { perm: 1, temp: 2 } as const

/**
 * The entries of a bulk text. The constructor throws `invalid`, with the number and the reason of each bad line,
 * before anybody can have changed anything.
 */
export class Bulk {
  readonly permanent = new SortedNetworks()
  readonly temporary = new TemporaryLines()
  /** Lines that repeat an earlier line's network on the same list: the first one counts. */
  duplicates = 0
  /** Temporary entries whose end has passed: they are left out. */
  ended = 0
  private readonly seen = new NetworkIndex()

  constructor(text: Uint8Array, now: number) {
    const problems: string[] = []
    let number = 0
    let bad = 0
    try {
      for (const line of linesOf(text)) {
        if (++number % COLLECT_EVERY === 0) Bun.gc(true)
        const entry = parseEntryLine(line, now)
        if (typeof entry !== "string") this.take(entry, now)
        else if (bad++ < REPORTED_LINES) problems.push(`line ${number}: ${entry}`)
      }
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause
      throw invalid(`line ${number + 1}: not valid UTF-8`)
    }
    if (bad > REPORTED_LINES) problems.push(`and ${bad - REPORTED_LINES} more`)
    if (problems.length > 0) throw invalid(problems.join("\n"))
    this.permanent.sort()
    this.temporary.sort()
  }

  /** True if the permanent list shall hold this network. */
  hasPermanent(network: Network): boolean {
    return (this.seen.get(network) & ON_LIST.perm) !== 0
  }

  private take(entry: EntryLine, now: number): void {
    const { network, until, reason } = entry
    if (until !== null && until <= now) {
      this.ended++
      return
    }
    const list = until === null ? ON_LIST.perm : ON_LIST.temp
    const before = this.seen.get(network)
    if ((before & list) !== 0) {
      this.duplicates++
      return
    }
    this.seen.set(network, before | list)
    if (until === null) this.permanent.add(network)
    else this.temporary.add({ network, until, reason })
  }
}
