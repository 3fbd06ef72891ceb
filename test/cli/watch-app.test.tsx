// From the bytes of a keyboard and the size of a window to the model, through Ink itself.

import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { PassThrough } from "node:stream"
import { render } from "ink"
import { App, type Store } from "../../cli/watch/app.tsx"
import type { Key } from "../../cli/watch/keys.ts"
import type { Size } from "../../cli/watch/layout.ts"
import type { Model } from "../../cli/watch/model.ts"
import { after, emptyModel, listed } from "./watch-world.ts"

/** A keyboard that can be read as keys come. */
class Keyboard extends PassThrough {
  readonly isTTY = true
  isRaw = false

  setRawMode(isRaw: boolean): this {
    this.isRaw = isRaw
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}

/** A window of a size that a test changes. */
class Window extends PassThrough {
  readonly isTTY = true
  columns = 100
  rows = 30
  written = ""

  override write(piece: string | Uint8Array, ...rest: unknown[]): boolean {
    this.written += String(piece)
    const done = rest.findLast((one) => typeof one === "function") as (() => void) | undefined
    done?.()
    return true
  }

  resize(columns: number, rows: number): void {
    Object.assign(this, { columns, rows })
    this.emit("resize")
  }
}

let keyboard: Keyboard
let window: Window
let keys: string[]
let sizes: Size[]
let show: (model: Model) => void
let ink: ReturnType<typeof render>

beforeEach(() => {
  keyboard = new Keyboard()
  window = new Window()
  keys = []
  sizes = []
  let model = emptyModel()
  const listeners = new Set<() => void>()
  show = (next) => {
    model = next
    for (const changed of listeners) changed()
  }
  const store: Store = {
    model: () => model,
    subscribe: (changed) => {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    press: (key: Key) =>
      keys.push(key.kind === "key" ? `<${key.name}>` : key.kind === "pasted" ? `"${key.text}"` : key.text),
    resize: (size) => sizes.push(size),
  }
  ink = render(<App store={store} look={{ isColoured: false }} />, {
    stdin: keyboard,
    stdout: window,
    interactive: true,
    exitOnCtrlC: false,
    patchConsole: false,
  })
})
afterEach(() => ink.unmount())

/** A key of no meaning, by which a test sees that all before it has been taken. */
const LAST = "§"

async function pressed(...bytes: readonly string[]): Promise<string[]> {
  for (const piece of bytes) {
    keyboard.write(piece)
    // A lone Escape is told from the beginning of a longer key by what does not follow it for a while.
    await Bun.sleep(piece === "\x1b" ? 100 : 1)
  }
  keyboard.write(LAST)
  while (keys.at(-1) !== LAST) await Bun.sleep(1)
  return keys.slice(0, -1)
}

describe("keys", () => {
  test.each([
    ["the arrows", ["\x1b[A", "\x1b[B", "\x1bOA", "\x1bOB"], ["<up>", "<down>", "<up>", "<down>"]],
    [
      "the pages",
      ["\x1b[5~", "\x1b[6~", "\x06", "\x02"],
      ["<page-up>", "<page-down>", "<page-down>", "<page-up>"],
    ],
    ["the ends", ["\x1b[H", "\x1b[F", "\x1b[1~", "\x1b[4~"], ["<home>", "<end>", "<home>", "<end>"]],
    ["Tab", ["\t", "\x1b[Z"], ["<tab>", "<back-tab>"]],
    ["Enter", ["\r"], ["<enter>"]],
    ["Escape", ["\x1b"], ["<escape>"]],
    ["Backspace and Delete", ["\x7f", "\x08", "\x1b[3~"], ["<erase>", "<erase>", "<erase>"]],
    ["Ctrl with a letter", ["\x03", "\x0c", "\x15"], ["<quit>", "<redraw>", "<clear>"]],
    ["Ctrl with a letter of no meaning", ["\x01", "\x05", "\x1a", "\x1c"], []],
    ["letters and signs", ["a", "/", "?", "G", "é", "日", "👍"], ["a", "/", "?", "G", "é", "日", "👍"]],
    ["letters with Alt", ["\x1bd", "\x1bq"], []],
    ["function keys", ["\x1bOP", "\x1b[15~", "\x1b[2~"], []],
    ["what terminals send by themselves", ["\x1b[I", "\x1b[O", "\x1b[12;40R", "\x1b[<0;10;10M"], []],
  ])("%s", async (_, bytes, expected) => {
    expect(await pressed(...bytes)).toEqual(expected)
  })

  test("that come together are taken one by one", async () => {
    expect(await pressed("jjj", "1h\r", "y\t\x7f")).toEqual([
      "j",
      "j",
      "j",
      "1",
      "h",
      "<enter>",
      "y",
      "<tab>",
      "<erase>",
    ])
  })

  test("in two halves are one key", async () => {
    expect(await pressed("\x1b[", "A")).toEqual(["<up>"])
  })

  test("that are pasted are no keys", async () => {
    expect(await pressed("\x1b[200~dy\rq\x1b[201~")).toEqual(['"dy\rq"'])
    expect(window.written).toContain("\x1b[?2004h")
  })
})

test("the size of the window is told at the start and whenever it changes", async () => {
  expect(sizes).toEqual([{ columns: 100, rows: 30 }])
  window.resize(60, 15)
  window.resize(200, 50)
  expect(sizes.slice(1)).toEqual([
    { columns: 60, rows: 15 },
    { columns: 200, rows: 50 },
  ])
})

test("what the model becomes is drawn", async () => {
  await ink.waitUntilRenderFlush()
  expect(window.written).not.toContain("203.0.113.7")
  show(after(emptyModel(), listed({ "203.0.113.7": 1 })))
  await ink.waitUntilRenderFlush()
  expect(window.written).toContain("203.0.113.7")
})

test("the keyboard is given back in the end", async () => {
  expect(keyboard.isRaw).toBe(true)
  ink.unmount()
  await ink.waitUntilExit()
  expect(keyboard.isRaw).toBe(false)
  expect(window.written).toContain("\x1b[?2004l")
})
