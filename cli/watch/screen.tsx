// The screen from its start to its end: takes the terminal, shows the gate, and gives the terminal back as it was.

import { render } from "ink"
import type { Clock } from "../../src/core/clock.ts"
import type { Gate } from "../../src/core/gate.ts"
import type { Terminal } from "../command-env.ts"
import { App, type Store, sizeOf } from "./app.tsx"
import { runFeed } from "./feed.ts"
import { pressed } from "./keys.ts"
import { initialModel, type Model, type News, type Task, told } from "./model.ts"
import type { Look } from "./panes.tsx"
import { perform } from "./tasks.ts"

export type ScreenParts = {
  readonly gate: Gate
  readonly clock: Clock
  readonly terminal: Terminal
  readonly sleep: (milliseconds: number) => Promise<void>
  /** Where the server is, as the user said it. */
  readonly address: string
  readonly look: Look
  /** Ends the screen from outside. */
  readonly signal: AbortSignal
}

const TICK = 1_000

/** A line that is longer than a terminal thinks must not go on in the next one. */
const NO_WRAP = "\x1b[?7l"
const WRAP = "\x1b[?7h"
const CLEAR = "\x1b[2J\x1b[H"

/** Fulfilled when somebody quits or `signal` is aborted. Rejects for a fault of this program; the terminal is free then. */
export async function showScreen(parts: ScreenParts): Promise<void> {
  const { stdout } = parts.terminal
  stdout.write(NO_WRAP)
  try {
    await show(parts)
  } finally {
    stdout.write(WRAP)
  }
}

async function show({ gate, clock, terminal, look, address, signal, sleep }: ScreenParts): Promise<void> {
  const { stdin, stdout } = terminal
  const over = new AbortController()
  const failed = Promise.withResolvers<never>()
  const size = sizeOf(stdout)
  const store = new ScreenStore(
    initialModel({ now: clock.wall(), mono: clock.mono(), size, address }),
    (task) => {
      if (task.kind === "quit") over.abort()
      else if (task.kind === "redraw") redraw()
      else perform(gate, task).then((news) => store.tell(news), failed.reject)
    },
  )
  terminal.untilCrash(failed.reject)
  const ink = render(<App store={store} look={look} />, {
    stdin,
    stdout,
    interactive: true,
    alternateScreen: true,
    incrementalRendering: true,
    exitOnCtrlC: false,
    patchConsole: false,
    maxFps: 60,
  })
  const redraw = () => {
    ink.clear()
    stdout.write(CLEAR)
    store.touch()
  }
  const ticking = setInterval(() => store.tell({ kind: "tick", now: clock.wall(), mono: clock.mono() }), TICK)
  const ended = AbortSignal.any([over.signal, signal])
  const quit = new Promise<void>((resolve) => ended.addEventListener("abort", () => resolve()))
  runFeed({ gate, clock, sleep, signal: ended, tell: (news) => store.tell(news) }).catch(failed.reject)
  try {
    await Promise.race([quit, failed.promise, ink.waitUntilExit()])
  } finally {
    over.abort()
    clearInterval(ticking)
    ink.unmount()
    await ink.waitUntilExit().catch(() => {})
  }
}

class ScreenStore implements Store {
  private readonly listeners = new Set<() => void>()

  constructor(
    private current: Model,
    private readonly run: (task: Task) => void,
  ) {}

  readonly model = (): Model => this.current

  readonly subscribe = (changed: () => void): (() => void) => {
    this.listeners.add(changed)
    return () => this.listeners.delete(changed)
  }

  press(key: Parameters<Store["press"]>[0]): void {
    const { model, task } = pressed(this.current, key)
    this.current = model
    this.draw()
    if (task !== null) this.run(task)
  }

  resize(size: Parameters<Store["resize"]>[0]): void {
    this.tell({ kind: "resized", size })
  }

  tell(news: News): void {
    const before = this.current.server
    this.current = told(this.current, news)
    // What a well server counts can wait for the next second; drawing is what costs most here.
    const isRoutine = news.kind === "answered" && before.status !== null && before.problem === null
    if (!isRoutine) this.draw()
  }

  /** Draws again what is there. */
  touch(): void {
    this.current = { ...this.current }
    this.draw()
  }

  private draw(): void {
    for (const changed of this.listeners) changed()
  }
}
