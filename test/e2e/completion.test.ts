// Completion in real shells on a real terminal, with the built binary and a server that runs: keys go in, the screen tells.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { dirname } from "node:path"
import { BASH_COMPLETION } from "../support/bash-completion.ts"
import { builtBinary, type ServerProcess, Workplace } from "../support/binary.ts"
import { TMUX, TmuxTerminal } from "../support/tmux.ts"

const HOSTILE = `100% \`touch pwned\` $(touch pwned) \\n "q" %n`
const ENTRIES = ["192.0.2.0/28", "203.0.113.7", "2001:db8:1::/64", "2001:db8:1::7"] as const

type Shell = { readonly name: string; readonly program: string; readonly start: readonly string[] }

/** Else the candidates come with the third key only. */
const LIST_AT_ONCE = "bind 'set show-all-if-ambiguous on'"

/** Ways to a prompt `$ ` with the completion in place, each as lines that are typed. */
const SHELLS: readonly Shell[] = [
  { name: "bash alone", program: "bash", start: [LIST_AT_ONCE, "source <(ipgate completion bash)"] },
  {
    name: "bash with bash-completion",
    program: "bash",
    start: [LIST_AT_ONCE, `source ${BASH_COMPLETION}`, "source <(ipgate completion bash)"],
  },
  {
    name: "zsh, sourced",
    program: "zsh",
    start: [
      "PS1='$ ' exec zsh -f -i",
      "autoload -Uz compinit && compinit -D -u",
      "source <(ipgate completion zsh)",
    ],
  },
  {
    name: "zsh, from fpath",
    program: "zsh",
    start: [
      "mkdir -p functions && ipgate completion zsh > functions/_ipgate",
      "PS1='$ ' exec zsh -f -i",
      "fpath=(~+/functions $fpath); autoload -Uz compinit && compinit -D -u",
    ],
  },
  {
    name: "fish",
    program: "fish",
    start: [
      `exec fish --no-config -C "function fish_prompt; printf '\\$ '; end; set -g fish_autosuggestion_enabled 0"`,
      "ipgate completion fish | source",
    ],
  },
]

/** True for a shell that can be tested here; why another is left out is said once. */
function isHere({ name, program }: Shell): boolean {
  const missing = [
    TMUX === null ? "tmux" : null,
    Bun.which(program) === null ? program : null,
    name.endsWith("bash-completion") && BASH_COMPLETION === null ? "bash-completion" : null,
  ].filter((one) => one !== null)
  if (missing.length === 0) return true
  console.error(`Completion in ${name} was left out. To test it: apt-get install ${missing.join(" ")}`)
  return false
}

let place: Workplace
let server: ServerProcess
beforeAll(async () => {
  place = await Workplace.make()
  server = await place.serve()
  expect((await server.ipgate("allow", ...ENTRIES)).code).toBe(0)
  expect((await server.ipgate("allow", "203.0.113.9", "--ttl", "8h", "-r", HOSTILE)).code).toBe(0)
})
afterAll(() => place[Symbol.asyncDispose]())

function environment(): Record<string, string | undefined> {
  return {
    ...place.env,
    IPGATE_SERVER: server.url,
    PATH: `${dirname(builtBinary())}:${place.env.PATH}`,
    // What shells and their histories would read or write.
    HISTFILE: "",
    ZDOTDIR: place.path("home"),
    XDG_CONFIG_HOME: place.path("home"),
    XDG_DATA_HOME: place.path("home"),
  }
}

/** The last line of the screen that is not empty. */
function lastLine(screen: string): string {
  return screen.trimEnd().split("\n").at(-1)?.trimEnd() ?? ""
}

/** Types a line, runs it, and waits for the next prompt. */
async function runLine(terminal: TmuxTerminal, line: string): Promise<string> {
  await terminal.type(line)
  await terminal.shows(line.slice(0, 40))
  await terminal.press("Enter")
  return terminal.until((screen) => lastLine(screen) === "$", `a prompt after ${line}`)
}

/** Wipes the line that is being typed, and clears the screen. By keys alone: an interrupt could overtake them. */
async function startAnew(terminal: TmuxTerminal): Promise<void> {
  await terminal.press("C-u")
  await terminal.run("clear")
  await terminal.until((screen) => screen.trim() === "$", "an empty screen")
}

describe.each(SHELLS)("$name", (shell) => {
  test.skipIf(!isHere(shell))(
    "completes what is typed",
    async () => {
      await using terminal = await TmuxTerminal.open({
        directory: place.directory,
        env: environment(),
        columns: 130,
        rows: 30,
      })
      for (const line of [`cd ${place.directory}`, ...shell.start]) await runLine(terminal, line)
      /** Types, and presses Tab until something comes: a busy machine may let the time for entries run out. */
      const tab = async (typed: string, ...texts: readonly string[]) => {
        await terminal.type(typed)
        const before = await terminal.until(
          (screen) => lastLine(screen).endsWith(typed),
          `what was typed: ${typed}`,
        )
        const isThere = (screen: string) => texts.every((text) => screen.includes(text))
        for (let tries = 0; tries < 5; tries++) {
          await terminal.press("Tab")
          const deadline = performance.now() + 4_000
          while (performance.now() < deadline) {
            const screen = await terminal.screen()
            if (isThere(screen)) return
            // Something else has come: another key would choose from it.
            if (screen !== before) break
            await Bun.sleep(20)
          }
          if ((await terminal.screen()) !== before) break
        }
        await terminal.until(isThere, texts.join(" and "))
      }

      // A command, and then an address up to where two entries part, which is at a colon.
      await startAnew(terminal)
      await tab("ipgate chec", "$ ipgate check")
      await tab("2001:", "$ ipgate check 2001:db8:1::")
      await tab("/", "$ ipgate check 2001:db8:1::/64")
      await terminal.press("Enter")
      await terminal.shows("\n2001:db8:1::/64 allowed by permanent 2001:db8:1::/64\n")

      // In quotes a colon divides nothing.
      await startAnew(terminal)
      await tab('ipgate check "2001:db8:1::7', '$ ipgate check "2001:db8:1::7"')
      await terminal.press("Enter")
      await terminal.shows("\n2001:db8:1::7 allowed by permanent 2001:db8:1::7\n")

      // All that there are, the reasons as they were written, where the shell shows such.
      await startAnew(terminal)
      await tab("ipgate deny 203.", "$ ipgate deny 203.0.113.")
      if (shell.program === "zsh") await terminal.press("Tab")
      // fish shortens what is typed already.
      await terminal.shows("03.0.113.7", "03.0.113.9", ...(shell.program === "bash" ? [] : [HOSTILE]))

      // A value behind the equals sign, and a file there.
      await startAnew(terminal)
      await tab("ipgate export --format=c", "$ ipgate export --format=csv")
      await startAnew(terminal)
      await tab("ipgate --config=./ipgate.t", "$ ipgate --config=./ipgate.toml")
      await startAnew(terminal)
      await tab("ipgate --token-file ./api-", "$ ipgate --token-file ./api-token")

      // Letters of more than one byte before the cursor, and a value with a space.
      await startAnew(terminal)
      await tab('ipgate allow 192.0.2.1 -r "für é" --tt', '-r "für é" --ttl')
      await tab("8", "--ttl 8h")

      // Nothing that stands on the line is run.
      await startAnew(terminal)
      await tab('ipgate check "$(touch pwned)" 19', '$ ipgate check "$(touch pwned)" 192.0.2.0/28')

      // No server: nothing is offered, nothing is said, and the next key comes in.
      await startAnew(terminal)
      await terminal.type("ipgate -s 127.0.0.1:1 deny 2")
      await terminal.press("Tab")
      await terminal.type("x")
      expect((await terminal.shows("deny 2x")).trim()).toBe("$ ipgate -s 127.0.0.1:1 deny 2x")

      expect(existsSync(place.path("pwned"))).toBe(false)
    },
    120_000,
  )
})

test("a server that never answers delays a key press by a moment only", async () => {
  const silent = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Promise<Response>(() => {}) })
  const began = performance.now()
  const asked = await place.ipgate(["complete", "bash", "--", "deny", ""], {
    env: { IPGATE_SERVER: `127.0.0.1:${silent.port}` },
  })
  // Any other command waits ten seconds.
  expect(performance.now() - began).toBeLessThan(5_000)
  await silent.stop(true)
  expect(asked).toEqual({ code: 0, stdout: "words\n", stderr: "" })
})

test("completion opens no database and makes no file", async () => {
  const env = {
    HOME: place.path("nobody"),
    IPGATE_DB: `file:${place.path("new.db")}`,
    IPGATE_TOKEN_FILE: undefined,
  }
  for (const words of [
    ["deny", ""],
    ["--offline", "deny", ""],
  ]) {
    const asked = await place.ipgate(["complete", "zsh", "--", ...words], { env })
    expect(asked).toEqual({ code: 0, stdout: "words\n", stderr: "" })
  }
  expect([existsSync(place.path("new.db")), existsSync(place.path("nobody"))]).toEqual([false, false])
})
