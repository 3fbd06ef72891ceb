// A real terminal for a program: a tmux server of its own, whose screen a test can read while it presses keys.

import { appendFile } from "node:fs/promises"
import { join } from "node:path"

/** The program, or `null` if it is not installed. */
export const TMUX: string | null = Bun.which("tmux")

export type TerminalOptions = {
  /** A directory for the socket of tmux; it is not removed. */
  readonly directory: string
  /** The whole environment of what runs in it, but for TERM. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly columns: number
  readonly rows: number
}

/** What the terminal itself is set to. */
export type TerminalState = {
  readonly isAlternate: boolean
  readonly hasCursor: boolean
  readonly wraps: boolean
}

const DEADLINE = 20_000
let made = 0

/** A terminal with a shell in it. Use it with `await using`. */
export class TmuxTerminal implements AsyncDisposable {
  private constructor(
    private readonly socket: string,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  static async open({ directory, env, columns, rows }: TerminalOptions): Promise<TmuxTerminal> {
    const given = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
    const socket = join(directory, `tmux-${++made}.sock`)
    const terminal = new TmuxTerminal(socket, { ...Object.fromEntries(given), LANG: "C.UTF-8" })
    const size = ["-x", String(columns), "-y", String(rows)]
    const settings = join(directory, `bashrc-${made}`)
    await Bun.write(settings, "PS1='$ '\n")
    await terminal.tmux("new-session", "-d", ...size, `bash --noprofile --rcfile '${settings}'`)
    await terminal.tmux("set-option", "-g", "escape-time", "0")
    await terminal.until((screen) => screen.startsWith("$"), "a prompt")
    return terminal
  }

  /** Types a line and presses Enter. */
  async run(line: string): Promise<void> {
    await this.type(line)
    await this.press("Enter")
  }

  /** Presses keys by their names: `Tab`, `Enter`, `C-c`, `j`. */
  async press(...keys: readonly string[]): Promise<void> {
    await this.tmux("send-keys", ...keys)
  }

  async type(text: string): Promise<void> {
    await this.tmux("send-keys", "-l", text)
  }

  /** Pastes as a terminal does for a program that has asked to be told so. */
  async paste(text: string): Promise<void> {
    await this.tmux("set-buffer", text)
    await this.tmux("paste-buffer", "-p", "-r")
  }

  /** Writes on the screen behind the back of the program that shows something there. */
  async scribble(text: string): Promise<void> {
    const path = (await this.tmux("display-message", "-p", "#{pane_tty}")).trim()
    await appendFile(path, text)
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.tmux("resize-window", "-x", String(columns), "-y", String(rows))
  }

  /** The lines of the screen, without spaces at their ends. */
  screen(): Promise<string> {
    return this.tmux("capture-pane", "-p")
  }

  /** The same with the escape sequences of its styles. */
  styledScreen(): Promise<string> {
    return this.tmux("capture-pane", "-p", "-e")
  }

  async state(): Promise<TerminalState> {
    const flags = await this.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag} #{wrap_flag}")
    const [isAlternate, hasCursor, wraps] = flags
      .trim()
      .split(" ")
      .map((flag) => flag === "1")
    return { isAlternate: isAlternate === true, hasCursor: hasCursor === true, wraps: wraps === true }
  }

  /** The screen as soon as it is what `isIt` says. */
  async until(isIt: (screen: string) => boolean, what: string): Promise<string> {
    const deadline = performance.now() + DEADLINE
    for (;;) {
      const screen = await this.screen()
      if (isIt(screen)) return screen
      if (performance.now() > deadline) throw new Error(`the screen never showed ${what}:\n${screen}`)
      await Bun.sleep(20)
    }
  }

  /** The screen as soon as it has all of the texts. */
  shows(...texts: readonly string[]): Promise<string> {
    return this.until((screen) => texts.every((text) => screen.includes(text)), texts.join(" and "))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tmux("kill-server").catch(() => {})
  }

  private async tmux(...args: readonly string[]): Promise<string> {
    const command = [TMUX ?? "tmux", "-u", "-S", this.socket, "-f", "/dev/null", ...args]
    const child = Bun.spawn(command, { env: this.env, stdin: "ignore", stdout: "pipe", stderr: "pipe" })
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    if ((await child.exited) !== 0) throw new Error(`tmux ${args.join(" ")}: ${stderr}`)
    return stdout
  }
}
