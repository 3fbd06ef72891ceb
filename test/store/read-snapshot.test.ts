// What is read of rows whose key and text differ, and that a network is written as bytes as it is written as a string.

import { expect, test } from "bun:test"
import { Address } from "../../src/core/address.ts"
import { Network } from "../../src/core/network.ts"
import { LONGEST_TEXT, writeText } from "../../src/store/canonical-text.ts"
import { Connection, type Row } from "../../src/store/connection.ts"
import { clearWrongKeys } from "../../src/store/contradictions.ts"
import { entryKey, keySize } from "../../src/store/entry-key.ts"
import { readSnapshot } from "../../src/store/read-snapshot.ts"
import { MIGRATIONS } from "../../src/store/schema.ts"
import { rounds } from "../faults/rounds.ts"
import { network } from "../support/parsed.ts"
import { Prng } from "../support/prng.ts"

const random = new Prng(7)

/** Words as addresses have them: many zeros, many small groups. */
function word(): number {
  const kind = random.below(6)
  const [high, low] = [random.below(0x10000), random.below(0x10000)]
  return [0, low, high * 0x10000, 1, high * 0x10000 + low, 0xffff][kind] ?? 0
}

function anyNetwork(): Network {
  for (;;) {
    const address = random.below(2) ? Address.ipv4(word()) : Address.ipv6(word(), word(), word(), word())
    const length = random.below(3) ? address.bits : random.below(address.bits + 1)
    const network = Network.from(address.masked(length), length)
    if (network !== null) return network
  }
}

test("a network has one text, as bytes and as a string", () => {
  const out = new Uint8Array(LONGEST_TEXT)
  const written = (network: Network) => Buffer.from(out.subarray(0, writeText(network, out))).toString()
  for (const text of [
    "0.0.0.0/0",
    "255.255.255.255",
    "::/0",
    "::",
    "::1",
    "1::",
    "1:0:0:2::",
    "1:0:2:3:4:5:6:7",
  ]) {
    expect(written(network(text))).toBe(text)
  }
  for (let i = 0; i < rounds(50_000, 1_000_000); i++) {
    const network = anyNetwork()
    expect(written(network)).toBe(network.toString())
  }
})

/** What is left of the keys of these networks beside these texts; an empty text is a key that was cleared. */
function left(networks: readonly string[], texts: readonly string[]): string[] {
  const family = network(networks[0] ?? "").family
  const size = keySize(family)
  const keys = new Uint8Array(networks.length * size)
  for (const [i, text] of networks.entries()) keys.set(entryKey(network(text)), i * size)
  clearWrongKeys(keys, Buffer.from(texts.join("\n"), "latin1"), family)
  return networks.map((text, i) => {
    const key = keys.subarray(i * size, (i + 1) * size)
    if (Buffer.from(entryKey(network(text))).equals(key)) return text
    expect([...key]).toEqual(Array.from({ length: size }, () => 0))
    return ""
  })
}

const FOUR = ["10.0.0.0/8", "192.0.2.1", "192.0.2.2", "198.51.100.0/24"]
const SIX = ["2001:db8::/32", "2001:db8::1", "2001:db8::2", "2001:db8:1::/48"]

test.each([
  ["the texts of the keys", FOUR, FOUR, FOUR],
  ["the texts of IPv6 keys", SIX, SIX, SIX],
  ["another spelling", SIX, ["2001:DB8::/32", "2001:db8:0::1", "2001:db8::2/128", "2001:db8:1::/48"], SIX],
  ["a mapped spelling", FOUR, ["10.0.0.0/8", "::ffff:192.0.2.1", "192.0.2.2", "198.51.100.0/24"], FOUR],
])("a key stays beside %s", (_, networks, texts, wanted) => {
  expect(left(networks, texts)).toEqual([...wanted])
})

test.each([
  ["another address", "192.0.2.9"],
  ["a longer text", "192.0.2.11"],
  ["a shorter text", "192.0.2."],
  ["a wider network", "192.0.2.0/24"],
  ["no text", ""],
  ["no address", "nobody"],
  ["an address of the other family", "2001:db8::1"],
  ["two lines", "192.0\n2.1"],
  ["many lines", "\n\n\n"],
  ["a line that is the next text", "192.0.2.1x\n192.0.2.9"],
  ["bytes beyond ASCII", "192.0.2.1\xff"],
  ["a zero", "192.0\x002.1"],
])("a key beside %s is cleared, and no other", (_, text) => {
  for (let i = 0; i < FOUR.length; i++) {
    if (i === 1) expect(left(FOUR, FOUR.with(i, text))).toEqual(FOUR.with(i, ""))
    // As the first and the last row of a chunk too.
    else if (!text.includes("192")) expect(left(FOUR, FOUR.with(i, text))).toEqual(FOUR.with(i, ""))
  }
})

test("two damaged rows side by side let nobody in", () => {
  expect(left(FOUR, ["10.0.0.0/8", "a\nb", "c\nd", "198.51.100.0/24"])).not.toContain("192.0.2.1")
  expect(left(FOUR, ["10.0.0.0/8", "a\nb", "c\nd", "198.51.100.0/24"])).not.toContain("192.0.2.2")
})

test("a database that gives fewer keys than it counts is not taken for a shorter list", () => {
  const connection = Connection.inMemory()
  for (const statement of MIGRATIONS.flat()) connection.execute(statement)
  for (const ip of FOUR) {
    const args = [entryKey(network(ip)), ip]
    connection.execute({ sql: "INSERT INTO permanent (key, ip) VALUES (?, ?)", args })
  }
  const entriesIn = (source: Pick<Connection, "execute">) => {
    let entries = 0
    readSnapshot(source as Connection, ({ family, records }) => {
      entries += records.length / keySize(family)
    })
    return entries
  }
  const losing = (bytes: number): Pick<Connection, "execute"> => ({
    execute: (statement) => {
      const result = connection.execute(statement)
      const shorter = (row: Row) =>
        row.keys instanceof ArrayBuffer ? { ...row, keys: row.keys.slice(0, -bytes) } : row
      return { ...result, rows: result.rows.map(shorter) }
    },
  })
  expect(entriesIn(connection)).toBe(FOUR.length)
  for (const bytes of [1, 6, 12, 24]) {
    expect(() => entriesIn(losing(bytes))).toThrow("the database did not give every key")
  }
})
