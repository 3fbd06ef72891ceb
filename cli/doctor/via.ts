// Examines the chain behind a URL over both families, and leaves nothing behind.

import { lookup } from "node:dns/promises"
import type { Config } from "../../src/config/config.ts"
import { Address } from "../../src/core/address.ts"
import { GateError } from "../../src/core/errors.ts"
import type { Gate } from "../../src/core/gate.ts"
import { TokenError } from "../../src/token-file.ts"
import { type ChainReport, examine } from "./chain.ts"
import { corrections } from "./corrections.ts"
import { type Finding, merged } from "./finding.ts"
import { MarkedEntries } from "./marked-entries.ts"
import { type Answer, ask } from "./raw-request.ts"

export type ViaReport = ChainReport & {
  readonly tested: readonly ("IPv4" | "IPv6")[]
  readonly requests: number
}

export type ViaOptions = {
  readonly gate: Gate
  readonly url: URL
  readonly header: Config["clientIpHeader"]
  readonly warn: (text: string) => void
  /** Aborted when the administrator has had enough. */
  readonly signal: AbortSignal
}

/**
 * Rejects with `unavailable` if the URL is out of reach over every family, and with the reason of `signal` if that is
 * aborted. The entries are removed in each case.
 */
export async function examineVia({ gate, url, header, warn, signal }: ViaOptions): Promise<ViaReport> {
  const entries = new MarkedEntries(gate)
  const findings: Finding[] = []
  const remarks: string[] = []
  const tested: ("IPv4" | "IPv6")[] = []
  const unreachable: string[] = []
  let requests = 0
  try {
    for (const address of await addressesOf(url)) {
      const family = address.includes(":") ? "IPv6" : "IPv4"
      let answered = false
      const request = async (lines: readonly string[] = []) => {
        requests++
        const target = targetOf(url, address)
        const answer = await ask({ target, host: url.host, path: url.pathname + url.search, lines, signal })
        answered = true
        return answer
      }
      const finding = (answer: Answer, { code, message }: Omit<Finding, "over" | "change">): Finding => ({
        code,
        over: [family],
        message,
        change: changeFor(code, header, answer.headers.get("server") ?? ""),
      })
      try {
        const report = await examine({ gate, entries, family, request, finding, signal })
        tested.push(family)
        findings.push(...report.findings)
        remarks.push(...report.remarks)
      } catch (cause) {
        // A machine may have no way to one of the families; but one that answered once must go on to do so.
        if (answered || signal.aborted || isOwn(cause)) throw cause
        unreachable.push(`${address}: ${cause instanceof Error ? cause.message : String(cause)}`)
      }
    }
  } catch (cause) {
    signal.throwIfAborted()
    if (isOwn(cause)) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new GateError("unavailable", `${url} has stopped answering: ${why}`, { cause })
  } finally {
    for (const network of await entries.removeAll())
      warn(`${network} could not be removed: its entry ends by itself`)
  }
  if (tested.length === 0) {
    throw new GateError("unavailable", `${url} is out of reach\n${unreachable.join("\n")}`, {
      hint: "nothing was tested",
    })
  }
  remarks.push(...unreachable.map((text) => `not tested: ${text}`))
  return { tested, requests, findings: merged(findings), remarks }
}

/** True for what ipgate itself refuses, which says nothing about the URL. */
function isOwn(cause: unknown): boolean {
  return cause instanceof GateError || cause instanceof TokenError
}

/** One address of each family. */
async function addressesOf({ hostname }: URL): Promise<string[]> {
  const literal = hostname.replace(/^\[|\]$/g, "")
  if (Address.parse(literal) !== null) return [literal]
  try {
    const all = (await lookup(hostname, { all: true })).map(({ address }) => address)
    const ipv4 = all.find((address) => !address.includes(":"))
    const ipv6 = all.find((address) => address.includes(":"))
    return [ipv4, ipv6].filter((address) => address !== undefined)
  } catch (cause) {
    throw new GateError("unavailable", `${hostname} has no address`, { cause, hint: "nothing was tested" })
  }
}

function targetOf({ protocol, port, hostname }: URL, address: string) {
  const tls = protocol === "https:"
  return {
    kind: "tcp",
    address,
    port: port === "" ? (tls ? 443 : 80) : Number(port),
    tlsName: tls ? hostname.replace(/^\[|\]$/g, "") : null,
  } as const
}

function changeFor(code: Finding["code"], header: Config["clientIpHeader"], server: string): string[] {
  switch (code) {
    case "forged":
    case "header-reaches-gate":
      return corrections("identity", header, server)
    case "no-address":
      return [
        ...corrections("identity", header, server),
        'ipgate: trusted_proxies under [auth] holds the address that the proxy asks from, or "unix"',
      ]
    case "not-asked":
    case "yes-not-taken":
      return corrections("endpoint", header, server)
    case "cached":
      return corrections("cache", header, server)
    case "error-page":
      return corrections("error-page", header, server)
    case "other-address":
      return [
        ...corrections("identity", header, server),
        "a proxy in front of yours: nginx set_real_ip_from and real_ip_header; Caddy trusted_proxies; Traefik forwardedheaders.trustedips",
        'Docker: network_mode: host for the proxy, or enable_ipv6: true for its network and "userland-proxy": false in daemon.json',
        "from the Docker host itself every connection looks so: ask from another machine",
      ]
    case "already-allowed":
      return ["ipgate deny ADDRESS, or run the doctor from another machine with --server and --token-file"]
    default:
      return []
  }
}
