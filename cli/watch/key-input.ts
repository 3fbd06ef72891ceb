// What Ink says of the keyboard, as keys of the model.

import type { Key as InkKey } from "ink"
import type { Key, KeyName } from "./keys.ts"

/**
 * The keys of one piece of input. A slow line, or a key that is held, brings several in one piece: `jjj`, or `1h` and
 * Enter. Pasted text does not come this way, so what looks typed was typed.
 */
export function keysOf(input: string, key: InkKey): Key[] {
  const name = nameOf(input, key)
  if (name !== null) return [{ kind: "key", name }]
  if (key.ctrl || key.meta || input === "") return []
  return [...input].flatMap((character) => {
    if (character === "\r" || character === "\n") return [named("enter")]
    if (character === "\t") return [named("tab")]
    return character < " " ? [] : [{ kind: "text", text: character } as const]
  })
}

function nameOf(input: string, key: InkKey): KeyName | null {
  if (key.ctrl) {
    const byLetter: Readonly<Record<string, KeyName>> = {
      c: "quit",
      l: "redraw",
      u: "clear",
      b: "page-up",
      f: "page-down",
      h: "erase",
    }
    return byLetter[input] ?? null
  }
  if (key.upArrow) return "up"
  if (key.downArrow) return "down"
  if (key.pageUp) return "page-up"
  if (key.pageDown) return "page-down"
  if (key.home) return "home"
  if (key.end) return "end"
  if (key.tab) return key.shift ? "back-tab" : "tab"
  if (key.return) return "enter"
  if (key.escape) return "escape"
  if (key.backspace || key.delete) return "erase"
  return null
}

function named(name: KeyName): Key {
  return { kind: "key", name }
}
