// The wiring: keys and the size of the window into the model, the model onto the screen.

import { useInput, usePaste, useStdout } from "ink"
import { useEffect, useSyncExternalStore } from "react"
import { keysOf } from "./key-input.ts"
import type { Key } from "./keys.ts"
import type { Size } from "./layout.ts"
import type { Model } from "./model.ts"
import { type Look, Screen } from "./panes.tsx"

/** Where the model is kept. */
export type Store = {
  readonly model: () => Model
  /** Calls `changed` after each change, until what it returns is called. */
  readonly subscribe: (changed: () => void) => () => void
  readonly press: (key: Key) => void
  readonly resize: (size: Size) => void
}

export function App({ store, look }: { store: Store; look: Look }) {
  const model = useSyncExternalStore(store.subscribe, store.model)
  const { stdout } = useStdout()
  useInput((input, key) => {
    for (const one of keysOf(input, key)) store.press(one)
  })
  usePaste((text) => store.press({ kind: "pasted", text }))
  useEffect(() => {
    const resized = () => store.resize(sizeOf(stdout))
    stdout.on("resize", resized)
    resized()
    return () => {
      stdout.off("resize", resized)
    }
  }, [stdout, store])
  return <Screen model={model} look={look} />
}

export function sizeOf(stream: NodeJS.WritableStream): Size {
  const { columns = 80, rows = 24 } = stream as Partial<Size>
  return { columns: columns || 80, rows: rows || 24 }
}
