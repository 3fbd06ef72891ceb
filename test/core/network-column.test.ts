// NetworkColumn: each place gives back the network that was put there last, whatever the others hold.

import { expect, test } from "bun:test"
import { Address } from "../../src/core/address.ts"
import { Network } from "../../src/core/network.ts"
import { NetworkColumn } from "../../src/core/network-column.ts"
import { seeded } from "../support/prng.ts"

test.each([
  "0.0.0.0/0",
  "192.0.2.1",
  "255.255.255.255",
  "10.0.0.0/8",
  "::/0",
  "::1",
  "2001:db8::/33",
  "::/64",
])("%s comes back", (text) => {
  const column = new NetworkColumn()
  const network = Network.parse(text) as Network
  column.set(3, network)
  expect(String(column.at(3))).toBe(text)
  expect([column.at(2), column.at(4), column.at(1_000)]).toEqual([null, null, null])
  column.clear(3)
  expect(column.at(3)).toBeNull()
})

test("the numbers are copied: what shows another network later changes nothing", () => {
  const column = new NetworkColumn()
  const shown = { family: 4 as const, length: 32, word0: 1, word1: 0, word2: 0, word3: 0 }
  column.set(0, shown)
  shown.word0 = 2
  expect(String(column.at(0))).toBe("0.0.0.1")
})

test(
  "agrees with a list of networks after each of many random changes",
  seeded((random) => {
    const column = new NetworkColumn()
    const twin: Array<Network | null> = []
    const anyNetwork = (): Network => {
      const isV4 = random.below(2) === 0
      const length = random.below(isV4 ? 33 : 129)
      const address = isV4
        ? Address.ipv4(random.word())
        : Address.ipv6Base(random.word(), random.word(), random.word(), random.word())
      return Network.from(address.masked(length), length) ?? anyNetwork()
    }
    for (let step = 0; step < 5_000; step++) {
      const place = random.below(1 + step / 20)
      if (random.below(3) === 0) {
        column.clear(place)
        twin[place] = null
      } else {
        const network = anyNetwork()
        column.set(place, network)
        twin[place] = network
      }
      const other = random.below(1 + step / 20)
      for (const one of [place, other]) expect(String(column.at(one))).toBe(String(twin[one] ?? null))
    }
  }),
)
