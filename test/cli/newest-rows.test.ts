// The newest rows of a log that grows while it is read page by page: each once, none left out, as many as were wanted.

import { describe, expect, test } from "bun:test"
import { newestRows } from "../../cli/newest-rows.ts"
import type { Page } from "../../src/core/page.ts"

/** A log with rows 1 to `rows`, of which `more` come before each page but the first. */
function log(rows: number, more: number) {
  let newest = rows
  const asked: Page[] = []
  const ask = async ({ limit, offset }: Page) => {
    if (asked.push({ limit, offset }) > 1) newest += more
    const length = Math.max(0, Math.min(limit, newest - offset))
    return Array.from({ length }, (_, i) => ({ id: newest - offset - i }))
  }
  return { asked, ask }
}

const ids = (newest: number, count: number) => Array.from({ length: count }, (_, i) => newest - i)

async function read({ ask }: ReturnType<typeof log>, wanted: number): Promise<number[]> {
  return (await Array.fromAsync(newestRows(ask, wanted))).map(({ id }) => id)
}

describe("the newest rows", () => {
  test.each([
    [
      Number.POSITIVE_INFINITY,
      [
        { limit: 1000, offset: 0 },
        { limit: 1000, offset: 1000 },
        { limit: 1000, offset: 2000 },
      ],
    ],
    [
      1_500,
      [
        { limit: 1000, offset: 0 },
        { limit: 500, offset: 1000 },
      ],
    ],
    [1_000, [{ limit: 1000, offset: 0 }]],
    [1, [{ limit: 1, offset: 0 }]],
  ])("that are wanted, %p, are asked for and no more", async (wanted, pages) => {
    const quiet = log(2_500, 0)
    expect(await read(quiet, wanted)).toEqual(ids(2_500, Math.min(wanted, 2_500)))
    expect(quiet.asked).toEqual(pages)
  })

  test.each([1, 3, 400, 999])("are told once each while %d come before every page", async (more) => {
    for (const wanted of [1_000, 1_003, 1_999, Number.POSITIVE_INFINITY]) {
      expect(await read(log(2_500, more), wanted)).toEqual(ids(2_500, Math.min(wanted, 2_500)))
    }
  })
})
