// Proves a chain from the outside, over one family of addresses: visitor, proxy, gate, and back.

import { Address } from "../../src/core/address.ts"
import type { Gate } from "../../src/core/gate.ts"
import { Network } from "../../src/core/network.ts"
import { isGateway, isSubstitute, USUAL_GATEWAYS } from "./apparent-address.ts"
import { BURST, type Evidence, gather } from "./evidence.ts"
import type { Finding } from "./finding.ts"
import { type Forgery, forgeries } from "./forged-headers.ts"
import { type MarkedEntries, unusedAddress } from "./marked-entries.ts"
import type { Answer } from "./raw-request.ts"

export type ChainParts = {
  readonly gate: Gate
  readonly entries: MarkedEntries
  readonly family: "IPv4" | "IPv6"
  /** One request through the proxy with these header lines. Rejects if no answer comes. */
  readonly request: (lines?: readonly string[]) => Promise<Answer>
  /** The finding, with the lines of the proxy that gave this answer. */
  readonly finding: (answer: Answer, finding: Omit<Finding, "over" | "change">) => Finding
  readonly signal: AbortSignal
}

export type ChainReport = { readonly findings: readonly Finding[]; readonly remarks: readonly string[] }

/** Statuses of a proxy that does not like a request as such: its decision about the client is another matter. */
const DISLIKED = [400, 413, 414, 431]
const AT_ONCE = 4

/** Rejects with the reason if the proxy is out of reach, or `signal` is aborted. */
export async function examine(parts: ChainParts): Promise<ChainReport> {
  const chain = new Chain(parts)
  await chain.examine()
  return chain
}

class Chain implements ChainReport {
  readonly findings: Finding[] = []
  readonly remarks: string[] = []

  constructor(private readonly parts: ChainParts) {}

  async examine(): Promise<void> {
    const stranger = await this.burst()
    const known = await this.asStranger(stranger)
    if (known === null) return
    const { refusal, client } = known
    await this.forgeAsStranger(refusal, stranger.last)
    if (client !== null) await this.asGuest(client, refusal)
  }

  /**
   * Nobody has let this machine in, so the gate must be asked about each request, say no, and be obeyed. `null` if
   * nothing more can be told after that; `client` is the address to let in, if there is one that may be.
   */
  private async asStranger(seen: Evidence): Promise<{ refusal: number; client: Address | null } | null> {
    const { status, headers } = seen.last
    const own = ownAddress(seen)
    const client = seen.refusedAs.find((one) => own?.equals(one)) ?? seen.refusedAs[0]
    const isPage = status < 300
    if (client !== undefined || seen.unidentified >= BURST) {
      if (isPage) {
        this.report(seen, "error-page", `ipgate says no, and the visitor gets status ${status} all the same`)
        return null
      }
      if (client === undefined) {
        this.report(
          seen,
          "no-address",
          "the proxy asks, but ipgate does not learn who the client is: its header is missing, empty or doubled, or the proxy is not in trusted_proxies",
        )
        return { refusal: status, client: null }
      }
      if (own === null || !isSubstitute(client, own)) {
        if (own !== null && !client.equals(own)) {
          this.remarks.push(`${this.parts.family}: ipgate takes this machine (${own}) for ${client}`)
        }
        return { refusal: status, client }
      }
      this.substitute(seen, client, own)
      return { refusal: status, client: null }
    }
    if (status >= 300 && status < 400) {
      const to = headers.get("location") ?? "nowhere"
      this.report(
        seen,
        "redirects",
        `the URL leads on to ${to} before anybody is asked: give that one to --via`,
      )
    } else if (seen.refusedOnce.some((one) => own?.equals(one))) {
      this.report(
        seen,
        "cached",
        `the proxy asks once and keeps the answer: status ${status} for ${BURST} requests`,
      )
    } else if (seen.allowed >= BURST && status < 400) {
      await this.alreadyAllowed(seen, own)
    } else {
      const what = isPage ? "everybody is let in" : `everybody gets status ${status}`
      this.report(
        seen,
        "not-asked",
        `${what}, and ipgate is not asked: the proxy asks another path than /auth, another server, nobody, or keeps an old answer`,
      )
    }
    return null
  }

  private async alreadyAllowed(seen: Evidence, own: Address | null): Promise<void> {
    const covering = async (network: Network) => (await this.parts.gate.check(network)).matches[0]
    const match = own === null ? undefined : await covering(Network.of(own))
    if (match !== undefined) {
      this.report(
        seen,
        "already-allowed",
        `${own} is let in by ${match.list === "perm" ? "permanent" : "temporary"} ${match.ip}, so nothing can be proven from here: run the doctor from an address that is on no list`,
      )
      return
    }
    for (const gateway of USUAL_GATEWAYS) {
      if ((await covering(gateway)) !== undefined) return this.substitute(seen, gateway.address, own)
    }
    this.report(
      seen,
      seen.allowed === BURST ? "already-allowed" : "not-asked",
      `this machine is let in, though ${own} is on no list: ipgate takes it for another address that is on one, or the proxy does not ask`,
    )
  }

  private substitute(seen: Evidence, client: Address, own: Address | null): void {
    const what = isGateway(client)
      ? "the address of this machine itself or of a container gateway"
      : "an address between this machine and ipgate"
    this.report(
      seen,
      "other-address",
      `ipgate takes this machine (${own}) for ${client}, ${what}: everybody who comes that way looks the same, and an entry for it lets all of them in`,
    )
  }

  /** With an address on the list that nobody has, claimed in every way: the answer must stay no. */
  private async forgeAsStranger(refusal: number, answer: Answer): Promise<void> {
    const { gate, entries, family } = this.parts
    const claimed = [
      await unusedAddress(gate, family === "IPv4" ? 4 : 6),
      await unusedAddress(gate, family === "IPv4" ? 6 : 4),
    ]
    const believed: string[] = []
    for (const [i, network] of claimed.entries()) {
      if (network === null) continue
      await entries.add(network)
      const all = forgeries(network.toString())
      const tried = i === 0 ? all : all.filter(({ lines }) => lines.length === 1)
      believed.push(
        ...(await this.which(
          tried,
          ({ status }) => status !== refusal && status < 500 && !DISLIKED.includes(status),
        )),
      )
      await entries.remove(network)
    }
    if (believed.length === 0) return
    this.reportAt(
      answer,
      "forged",
      `a client can choose its address: an allowed one was believed in ${listed(believed)}`,
    )
  }

  /** Let in under the address that ipgate knows: in at once, whatever else is claimed, and out at once. */
  private async asGuest(client: Address, refusal: number): Promise<void> {
    const { gate, entries } = this.parts
    const network = Network.of(client)
    await entries.add(network)
    const guest = await this.burst()
    if (guest.statuses.includes(refusal)) {
      if (guest.allowed >= BURST) {
        this.report(
          guest,
          "yes-not-taken",
          `ipgate says yes, and the visitor gets status ${refusal} all the same: the proxy does not take 204 for a yes, or the site itself answers so`,
        )
      } else {
        this.report(guest, "cached", `the proxy keeps a no: ${client} was let in, and still gets ${refusal}`)
      }
      return
    }
    if (guest.allowed < BURST) {
      this.report(
        guest,
        "cached",
        `the proxy keeps a yes: it asked ${guest.allowed} times about ${BURST} requests`,
      )
    }
    const unlisted = await unusedAddress(gate, client.family)
    if (unlisted !== null) {
      const obeyed = await this.which(forgeries(unlisted.toString()), ({ status }) => status === refusal)
      if (obeyed.length > 0) {
        this.reportAt(
          guest.last,
          "header-reaches-gate",
          `what a client writes in ${listed(obeyed)} reaches ipgate: it was let in, and is refused with it`,
        )
      }
    }
    await entries.remove(network)
    const after = await this.burst()
    const late = after.statuses.filter((status) => status !== refusal).length
    if (late > 0) {
      this.report(
        after,
        "cached",
        `the proxy keeps a yes: ${late} of ${BURST} requests came in after ${client} was taken off the list`,
      )
    }
  }

  private burst(): Promise<Evidence> {
    return gather(this.parts.gate, () => this.parts.request())
  }

  /** The names of the forgeries whose answer is as `wrong` says. A connection that is cut is no answer. */
  private async which(all: readonly Forgery[], wrong: (answer: Answer) => boolean): Promise<string[]> {
    const names: string[] = []
    for (let at = 0; at < all.length; at += AT_ONCE) {
      const some = all.slice(at, at + AT_ONCE)
      const answers = await Promise.all(some.map(({ lines }) => this.parts.request(lines).catch(() => null)))
      this.parts.signal.throwIfAborted()
      names.push(...some.flatMap(({ name }, i) => (answers[i] && wrong(answers[i]) ? [name] : [])))
    }
    return names
  }

  private report(seen: Evidence, code: Finding["code"], message: string): void {
    this.reportAt(seen.last, code, message)
  }

  private reportAt(answer: Answer, code: Finding["code"], message: string): void {
    this.findings.push(this.parts.finding(answer, { code, message }))
  }
}

function ownAddress({ last: { from } }: Evidence): Address | null {
  return from === null ? null : Address.parse(from)
}

/** A few names, and how many more there are. */
function listed(names: readonly string[]): string {
  const unique = [...new Set(names)]
  const shown = unique.slice(0, 4).join("; ")
  return unique.length > 4 ? `${shown}; and ${unique.length - 4} more ways` : shown
}
