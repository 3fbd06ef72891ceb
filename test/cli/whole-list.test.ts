// A list that changes while it is read page by page: nothing that was there all along is left out, nothing is there twice.

import { afterEach, describe, expect, test } from "bun:test"
import { permanentList, temporaryList, tokenList, wholeList } from "../../cli/whole-list.ts"
import type { Gate } from "../../src/core/gate.ts"
import type { Page } from "../../src/core/page.ts"
import type { Token } from "../../src/core/token.ts"
import { Workbench } from "../gate/workbench.ts"
import { CliMachine } from "../support/cli.ts"
import { network } from "../support/parsed.ts"
import { runServer, TOKEN } from "../support/running-server.ts"
import { temporaryPaths } from "../support/temp-store.ts"

const path = temporaryPaths()
const COUNT = 3_210

const ip = (i: number) => `10.1.${i >> 8}.${i & 255}`
const ips = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => ip(from + i))
const importAll = (gate: Gate, lines: readonly string[]) =>
  gate.import({ lines: new TextEncoder().encode(lines.join("\n")), prune: null })

const LISTS = [
  {
    name: "permanent",
    listed: permanentList,
    lines: (all: readonly string[]) => all,
    add: (gate: Gate, ip: string) => gate.addPermanent(network(ip)),
    remove: (gate: Gate, ip: string) => gate.removePermanent(network(ip)),
  },
  {
    name: "temporary",
    listed: temporaryList,
    lines: (all: readonly string[]) => all.map((ip, i) => `${ip}\t${3600 + i}`),
    add: (gate: Gate, ip: string) =>
      gate.addTemporary({ network: network(ip), ttlSeconds: 60, reason: null }),
    remove: (gate: Gate, ip: string) => gate.removeTemporary(network(ip)),
  },
] as const

describe.each(LISTS)("the $name list", ({ listed, lines, add, remove }) => {
  let bench: Workbench
  const pages: Page[] = []

  /** The list, read while something happens before the page of this number. */
  async function read(number: number, happens: (gate: Gate) => Promise<unknown>): Promise<string[]> {
    bench = await Workbench.open(path())
    pages.length = 0
    await importAll(bench.gate, lines(ips(0, COUNT)))
    const { page, name } = listed(bench.gate) as ReturnType<typeof permanentList>
    const { rows } = await wholeList({
      ...(listed(bench.gate) as ReturnType<typeof permanentList>),
      page: async (asked) => {
        if (pages.push(asked) === number) await happens(bench.gate)
        return page(asked)
      },
    })
    return rows.map(name)
  }
  afterEach(() => bench.store.close())

  test("that does not change is whole, in order, and asked for once", async () => {
    expect(await read(0, async () => {})).toEqual(ips(0, COUNT))
    expect(pages.map(({ offset }) => offset)).toEqual([0, 990, 1_980, 2_970])
  })

  test.each([3, 10, 11, 500, 1_000, 1_990, 3_000])(
    "keeps all that stays when %d go at its front",
    async (gone) => {
      const found = await read(3, async (gate) => {
        await Promise.all(ips(0, gone).map((ip) => remove(gate, ip)))
      })
      expect(found.slice(-(COUNT - gone))).toEqual(ips(gone, COUNT))
      expect(new Set(found).size).toBe(found.length)
    },
  )

  test.each([3, 10, 11, 1_000])("has nothing twice when %d come at its front", async (come) => {
    const added = Array.from({ length: come }, (_, i) => `9.1.${i >> 8}.${i & 255}`)
    const found = await read(3, async (gate) => {
      await Promise.all(added.map((ip) => add(gate, ip)))
    })
    expect(found.filter((ip) => ip.startsWith("10."))).toEqual(ips(0, COUNT))
    expect(new Set(found).size).toBe(found.length)
  })

  test("that becomes empty is what was read before", async () => {
    const found = await read(3, async (gate) => {
      await Promise.all(ips(0, COUNT).map((ip) => remove(gate, ip)))
    })
    expect(found).toEqual(ips(0, 1_990))
  })
})

test("an entry that gets a later end is there once, with that end", async () => {
  const bench = await Workbench.open(path())
  await importAll(
    bench.gate,
    ips(0, 2_000).map((ip, i) => `${ip}\t${3600 + i}`),
  )
  const list = temporaryList(bench.gate)
  const extend = () =>
    bench.gate.addTemporary({ network: network(ip(5)), ttlSeconds: 86_400, reason: "longer" })
  let pages = 0
  const { rows } = await wholeList({
    ...list,
    page: async (page) => {
      if (++pages === 2) await extend()
      return list.page(page)
    },
  })
  expect(rows.map(({ ip }) => ip)).toEqual([...ips(0, 5), ...ips(6, 2_000), ip(5)])
  expect(rows.at(-1)?.reason).toBe("longer")
  await bench.store.close()
})

test("of a long list no more than was wanted, and a page, is read", async () => {
  const bench = await Workbench.open(path())
  await importAll(bench.gate, ips(0, COUNT))
  const list = permanentList(bench.gate)
  const { rows, isPartial } = await wholeList(list, 1_500)
  expect([rows.length, isPartial]).toEqual([1_990, true])
  expect((await wholeList(list, COUNT)).isPartial).toBe(false)
  await bench.store.close()
})

test("a token that comes before the others puts none of them on the list twice", async () => {
  const names = Array.from({ length: 1_500 }, (_, i) => `n${String(i).padStart(4, "0")}`)
  const tokens = names.map((name) => ({ name }) as Token)
  let pages = 0
  const { page, ...list } = tokenList({
    create: () => Promise.reject(new Error("not asked for")),
    revoke: () => Promise.reject(new Error("not asked for")),
    list: async ({ limit, offset }) => {
      if (++pages === 2) tokens.unshift({ name: "a" } as Token)
      return tokens.slice(offset, offset + limit)
    },
  })
  expect((await wholeList({ page, ...list })).rows.map(({ name }) => name)).toEqual(names)
})

/** Runs a command through what stands before the server and lets something happen before the page of this number. */
async function through(
  server: Awaited<ReturnType<typeof runServer>>,
  command: string,
  path: string,
  happens: () => Promise<unknown>,
): Promise<unknown> {
  const machine = new CliMachine()
  let pages = 0
  const front = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch({ url, headers }) {
      const { pathname, search } = new URL(url)
      if (pathname === path && ++pages === 2) await happens()
      return fetch(`${server.url}${pathname}${search}`, { headers })
    },
  })
  try {
    const environment = { IPGATE_SERVER: `127.0.0.1:${front.port}`, IPGATE_TOKEN: TOKEN }
    return JSON.parse((await machine.run(command, { environment })).out)
  } finally {
    await front.stop(true)
    machine.remove()
  }
}

describe("a command that reads page by page", () => {
  test("list leaves nothing out", async () => {
    const server = await runServer()
    await server.api("POST", "/api/whitelist/import", ips(0, 1_500).join("\n"))
    const found = (await through(server, "list --perm --json", "/api/whitelist/perm/list", async () => {
      for (const ip of ips(0, 20)) await server.api("DELETE", `/api/whitelist/perm/${ip}`)
    })) as Array<{ ip: string }>
    expect(found.map(({ ip }) => ip)).toEqual(ips(0, 1_500))
    await server.stop()
  })

  test.each(["", " --wide"])("logs%s tells nothing twice, and as many rows as were wanted", async (wide) => {
    const server = await runServer()
    await server.api("POST", "/api/whitelist/import", ips(0, 1_500).join("\n"))
    const before = (await server.audit()).length
    const found = (await through(server, `logs -n 1200 --json${wide}`, "/api/logs", async () => {
      for (let i = 0; i < 250; i++) await server.addPermanent(`192.0.${2 + (i >> 8)}.${i & 255}`)
    })) as Array<{ ip: string }>
    expect(before).toBe(1_000)
    expect(found.map(({ ip }) => ip)).toEqual(ips(300, 1_500).reverse())
    await server.stop()
  })
})
