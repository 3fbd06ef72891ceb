// The parser, the index and the decision against slow twins that are written in another way.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import fc from "fast-check"
import { Address } from "../../src/core/address.ts"
import { Network } from "../../src/core/network.ts"
import { NetworkIndex } from "../../src/core/network-index.ts"
import { ipv4Spelling, ipv6Spelling, mutatedText, randomText } from "../support/address-text.ts"
import { CORPUS } from "../support/corpus.ts"
import { Prng } from "../support/prng.ts"
import { RawConnection } from "../support/raw-http.ts"
import { ReferenceList } from "../support/reference-list.ts"
import { runServer } from "../support/running-server.ts"
import { numberOf, slowParse, slowParseNetwork } from "../support/slow-address.ts"
import { fault } from "./fault.ts"
import { fuzz } from "./fuzz.ts"
import { rounds } from "./rounds.ts"
import { tally } from "./tally.ts"

setDefaultTimeout(600_000)

const spelled = fc.oneof(ipv4Spelling, ipv6Spelling).map(({ text }) => text)
const anyText = fc.oneof(
  { weight: 2, arbitrary: spelled },
  { weight: 4, arbitrary: mutatedText },
  { weight: 1, arbitrary: randomText },
)
const anyLength = fc.oneof(
  fc.nat({ max: 140 }).map(String),
  fc.constantFrom("00", "08", "+8", "-1", "", "8 ", "1e1", "0x8", "8.0", "4294967304", "\u0668"),
)

describe("the parser", () => {
  test(
    fault(
      "A-01 A-02 A-06 A-07 A-10 A-15",
      "texts that are addresses, nearly are, or are anything, to the parser and to a slow one over big integers",
      "the same verdict, the same number, and a text that reads back to it",
    ),
    () => {
      fuzz([10_000, 1_000_000], anyText, (text) => {
        const parsed = Address.parse(text)
        expect(parsed === null ? null : numberOf(parsed)).toEqual(slowParse(text))
        if (parsed !== null) expect(Address.parse(String(parsed))?.equals(parsed)).toBe(true)
      })
    },
  )

  test(
    fault(
      "A-09 A-10 A-11 A-15",
      "the same texts with prefix lengths behind them, good ones and bad ones",
      "the same verdict and the same network as the slow parser",
    ),
    () => {
      const networks = fc
        .tuple(anyText, anyLength, fc.constantFrom("/", "/", "/", "//", ""))
        .map(([text, length, slash]) => text + slash + length)
      fuzz([10_000, 1_000_000], networks, (text) => {
        const parsed = Network.parse(text)
        const seen = parsed === null ? null : { ...numberOf(parsed.address), length: parsed.length }
        expect(seen).toEqual(slowParseNetwork(text))
        if (parsed !== null) expect(Network.parse(String(parsed))?.equals(parsed)).toBe(true)
      })
    },
  )
})

test(
  fault(
    "A-11 A-12",
    "an index and a plain list that get the same random networks, many of them of few lengths, and lose them again",
    "the same networks around every probe, at the ends of networks above all",
  ),
  () => {
    const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32))
    const random = new Prng(seed)
    for (let round = 0; round < rounds(4, 400); round++) {
      const index = new NetworkIndex()
      const list = new ReferenceList<number>()
      const networks = Array.from({ length: 250 }, () => randomNetwork(random))
      let probes = 0
      for (const network of networks) {
        const value = (random.word() >>> 1) + 1
        index.set(network, value)
        list.set(network, value)
        const gone = random.below(3) === 0 ? random.pick(networks) : network
        if (gone !== network) {
          index.delete(gone)
          list.delete(gone)
        }
        for (const address of [network, gone, random.pick(networks)].flatMap((one) =>
          probesOf(random, one),
        )) {
          const seen: number[] = []
          index.some(address, (found) => {
            seen.push(found)
            return false
          })
          const wanted = list.covering(Network.of(address)).map((row) => row.value)
          if (String(seen.sort()) !== String(wanted.sort())) {
            throw new Error(
              `TEST_SEED=${seed}: ${address} is in ${wanted.length} networks, and ${seen.length} were found`,
            )
          }
          probes++
        }
      }
      tally("decisionsCompared", probes)
    }
  },
)

test(
  fault(
    "A-03 A-12 A-14 J-18",
    "a server whose lists change all the time is asked with every kind of X-Real-IP, in pipelines on raw sockets",
    "each answer is that of a slow parser and a plain list, 204 or 401 and nothing else",
  ),
  async () => {
    const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32))
    const random = new Prng(seed)
    const server = await runServer()
    try {
      const list = new ReferenceList<string>()
      const corpus = CORPUS.map(({ input }) => input)
      let letIn = 0
      let asked = 0
      using connection = await RawConnection.open(server.address)
      for (let round = 0; round < rounds(100, 8_000); round++) {
        await changeBoth(server, list, random)
        const base = fc.sample(anyText, { numRuns: 60, seed: random.word() | 0 })
        const texts = [...base, ...base.slice(0, 20).map((text) => `::ffff:${text}`), random.pick(corpus)]
          // What no header can carry; the tests of bytes in test/http have these.
          .filter((text) => ![...text].some((character) => character < " " && character !== "\t"))
          .concat(
            list
              .all()
              .slice(0, 20)
              .map(({ network }) => String(network.address)),
          )
        connection.send(
          texts.map((text) => `GET /auth HTTP/1.1\r\nHost: gate.test\r\nX-Real-IP: ${text}\r\n\r\n`).join(""),
        )
        for (const text of texts) {
          const { status } = await connection.answer()
          const wanted = isListed(list, text) ? 204 : 401
          asked++
          if (status === 204 && wanted === 401) letIn++
          if (status !== wanted) {
            tally("letIn", letIn)
            throw new Error(
              `TEST_SEED=${seed}: ${JSON.stringify(text)} got ${status}, and ${wanted} is right`,
            )
          }
        }
      }
      tally("requestsFuzzed", asked)
      tally("decisionsCompared", asked)
    } finally {
      await server.stop()
    }
  },
)

/** One entry more, or one less, on the server and on the plain list; in another spelling than it was added in. */
async function changeBoth(
  server: Awaited<ReturnType<typeof runServer>>,
  list: ReferenceList<string>,
  random: Prng,
): Promise<void> {
  const entries = list.all()
  if (entries.length > 40 || (entries.length > 0 && random.below(3) === 0)) {
    const { network } = random.pick(entries)
    const text =
      network.family === 4
        ? `::ffff:${network.address}/${network.length + 96}`
        : String(network).toUpperCase()
    const answer = await server.api("DELETE", `/api/whitelist/perm/${encodeURIComponent(text)}`)
    expect(answer.headers.get("Ipgate-Result")).toBe("removed")
    list.delete(network)
    return
  }
  const network = randomNetwork(random)
  const { status } = await server.api("POST", "/api/whitelist/perm", { ip: String(network) })
  expect(status).toBe(list.get(network) === undefined ? 204 : 409)
  list.set(network, "")
}

function isListed(list: ReferenceList<string>, text: string): boolean {
  // Bun takes white space from around a value, as HTTP wants it.
  const parsed = slowParse(text.replace(/^[ \t]+|[ \t]+$/g, ""))
  if (parsed === null) return false
  const address = Address.parse(text.replace(/^[ \t]+|[ \t]+$/g, ""))
  return address !== null && list.covering(Network.of(address)).length > 0
}

/** Short and long ones, few first bits, so that they overlap. */
function randomNetwork(random: Prng): Network {
  const isIpv4 = random.below(2) === 0
  const lengths = isIpv4 ? [1, 2, 7, 8, 9, 16, 24, 31, 32] : [1, 3, 32, 33, 48, 64, 65, 96, 127, 128]
  const length = random.below(2) === 0 ? random.pick(lengths) : random.below(isIpv4 ? 33 : 129)
  const word = () => random.pick([0, 1, 0x0a000000, 0x7fffffff, 0x80000000, 0xffffffff, random.word()])
  const address = isIpv4 ? Address.ipv4(word()) : Address.ipv6Base(word(), word(), word(), word())
  // A mapped base is IPv4 in every spelling, so it is not made here.
  const masked = Network.from(address.masked(length), length)
  return masked ?? Network.of(Address.ipv4(random.word()))
}

/** The ends of a network, their neighbours as far as there are some, and one address anywhere. */
function probesOf(random: Prng, { address, length }: Network): Address[] {
  const { family, value } = numberOf(address)
  const bits = family === 4 ? 32n : 128n
  const last = value + 2n ** (bits - BigInt(length)) - 1n
  return [value - 1n, value, last, last + 1n, BigInt(random.word())]
    .filter((number) => number >= 0n && number < 2n ** bits)
    .map((number) => {
      const word = (shift: bigint) => Number((number >> shift) & 0xffffffffn)
      return family === 4
        ? Address.ipv4(word(0n))
        : Address.ipv6Base(word(96n), word(64n), word(32n), word(0n))
    })
}
