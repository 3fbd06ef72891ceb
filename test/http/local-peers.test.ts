// Which listeners can be reached by this machine only, and that a decision still asks for the peer where it matters.

import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { ClientAddresses } from "../../src/http/client-address.ts"
import { onlyLocalPeers } from "../../src/http/local-peers.ts"
import { parseListenAddress } from "../../src/listen-address.ts"
import { network } from "../support/parsed.ts"
import { DEFAULT_TRUSTED_PROXIES } from "../support/trusted-proxies.ts"

const MODULE = join(import.meta.dir, "../../src/http/local-peers.ts")

/** Asks in a network of its own, whose settings are nobody else's. */
function inOwnNetwork(before: string, ...namespaces: readonly string[]): string {
  const question = `import { onlyLocalPeers } from ${JSON.stringify(MODULE)}
    console.log(onlyLocalPeers({ kind: "tcp", hostname: "127.0.0.1", port: 1 }))`
  const command = `${before}; exec "$0" -e "$1"`
  const args = [
    "unshare",
    "--net",
    ...namespaces,
    "--map-root-user",
    "sh",
    "-c",
    command,
    process.execPath,
    question,
  ]
  const { stdout, stderr } = Bun.spawnSync(args, { stdin: "ignore" })
  return `${stdout}${stderr}`.trim()
}

describe("a listener that only this machine can reach", () => {
  test.each([
    ["0.0.0.0:8765", false],
    ["[::]:8765", false],
    ["192.0.2.1:8765", false],
    ["localhost:8765", false],
  ])("%s: %p", (text, expected) => {
    const address = parseListenAddress(text)
    if (address?.kind !== "tcp") throw new Error(text)
    expect(onlyLocalPeers(address)).toBe(expected)
  })

  test("loopback, while no interface routes packets to it", () => {
    expect(inOwnNetwork("true")).toBe("true")
  })

  test("not where an interface routes packets from outside to loopback", () => {
    expect(inOwnNetwork("echo 1 > /proc/sys/net/ipv4/conf/lo/route_localnet")).toBe("false")
  })
})

test("a listener of which that cannot be found out passes for one that others can reach", () => {
  expect(inOwnNetwork("mount -t tmpfs none /proc/sys", "--mount")).toBe("false")
})

describe("whether every peer of this machine is trusted", () => {
  test.each([
    ["by default", DEFAULT_TRUSTED_PROXIES.networks.map(String), true],
    ["one loopback address", ["127.0.0.1", "::1"], false],
    ["IPv4 only", ["127.0.0.0/8"], false],
    ["wider networks", ["0.0.0.0/0", "::/0"], true],
    ["nobody", [], false],
  ])("%s", (_what, networks, expected) => {
    const trusted = { networks: networks.map((text) => network(text)), unixSocket: true }
    expect(new ClientAddresses(trusted, "X-Real-IP").trustsLoopback).toBe(expected)
  })
})
