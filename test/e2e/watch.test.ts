// `ipgate watch` in a real terminal: what is on the screen after each key, and how the terminal is left.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { entryKey } from "../../src/store/entry-key.ts"
import { fault } from "../faults/fault.ts"
import { builtBinary, type RunOptions, type ServerProcess, TOKEN, Workplace } from "../support/binary.ts"
import { network } from "../support/parsed.ts"
import { editedCopy } from "../support/temp-store.ts"
import { TMUX, TmuxTerminal } from "../support/tmux.ts"
import { goldenScreen, steady } from "./screens.ts"

setDefaultTimeout(120_000)

const ROOT = join(import.meta.dir, "../..")

type Scene = AsyncDisposable & {
  readonly place: Workplace
  readonly server: ServerProcess
  readonly terminal: TmuxTerminal
  /** Starts the screen with these arguments, and waits until the lists are there. */
  readonly watch: (...args: readonly string[]) => Promise<string>
  /** The command, as the shell has to be told. */
  readonly command: (...args: readonly string[]) => string
}

type SceneOptions = {
  readonly columns?: number
  readonly rows?: number
  readonly env?: RunOptions["env"]
  readonly serve?: readonly string[]
}

async function scene({ columns = 100, rows = 28, env = {}, serve = [] }: SceneOptions = {}): Promise<Scene> {
  const place = await Workplace.make()
  try {
    const server = await place.serve(["--listen", "127.0.0.1:0", ...serve])
    const { host } = new URL(server.url)
    const terminal = await TmuxTerminal.open({
      directory: place.directory,
      env: { ...place.env, IPGATE_SERVER: host, ...env },
      columns,
      rows,
    })
    const command = (...args: readonly string[]) => [builtBinary(), "watch", ...args].join(" ")
    return {
      place,
      server,
      terminal,
      command,
      watch: async (...args) => {
        await terminal.run(command(...args))
        return terminal.until(
          (screen) => screen.includes("quit") && !screen.includes("reading") && !screen.includes("asking"),
          "the screen",
        )
      },
      [Symbol.asyncDispose]: async () => {
        await terminal[Symbol.asyncDispose]()
        await place[Symbol.asyncDispose]()
      },
    }
  } catch (error) {
    await place[Symbol.asyncDispose]()
    throw error
  }
}

/** Lets in for so many hours, so that a bar is full as long as a test takes. */
async function grant(server: ServerProcess, ip: string, hours: number, reason = ""): Promise<void> {
  const answer = await server.api("POST", "/api/whitelist/temp", { ip, ttl_seconds: hours * 3600, reason })
  if (answer.status !== 204) throw new Error(`${ip}: ${answer.status} ${await answer.text()}`)
}

/** Clients that are refused, each once more often than the one before, and never in the same millisecond. */
async function refuse(server: ServerProcess, ...ips: readonly string[]): Promise<void> {
  for (const [i, ip] of ips.entries()) {
    for (let n = 0; n <= i; n++) expect(await server.decision(ip)).toBe(401)
    await Bun.sleep(3)
  }
}

const line = (screen: string, text: string) => screen.split("\n").find((line) => line.includes(text)) ?? ""

describe.skipIf(TMUX === null)("in a terminal", () => {
  test("a day at the gate: refused clients are let in, entries extended, removed and looked for", async () => {
    await using day = await scene()
    const { server, terminal, watch } = day
    await grant(server, "203.0.113.7", 8, "on call")
    await grant(server, "198.51.100.128/25", 24, "branch office")
    await grant(server, "2001:db8:1::/64", 48, "office")
    await grant(server, "192.0.2.77", 2)
    await server.api("POST", "/api/whitelist/perm", { ip: "192.0.2.0/28" })
    await server.api("DELETE", "/api/whitelist/temp/192.0.2.77")
    await refuse(server, "192.0.2.99", "192.0.2.77")
    const check = (name: string, screen: string) =>
      expect(steady(screen)).toBe(goldenScreen(`watch-${name}`, steady(screen)))

    await watch()
    check("start", await terminal.shows("192.0.2.99", "on call"))

    await terminal.press("Tab")
    check("refused", await terminal.shows("> 192.0.2.77"))
    await terminal.press("Enter")
    check("let-in", await terminal.shows("allowed 192.0.2.77", "let in for", "add_temp    192.0.2.77"))
    expect(await server.decision("192.0.2.77")).toBe(204)

    await terminal.press("j", "a")
    check("allow-form", await terminal.shows("Address  192.0.2.99", "> For      1h_"))
    await terminal.type("12h")
    await terminal.press("Enter")
    await terminal.type("visitor")
    await terminal.press("Enter")
    check("allowed", await terminal.shows("allowed 192.0.2.99", "add_temp    192.0.2.99          12h"))
    expect(await server.decision("192.0.2.99")).toBe(204)

    await terminal.press("BTab", "g", "j", "e")
    check("extend-form", await terminal.shows("A new lifetime for 203.0.113.7", "> For      8h_"))
    await terminal.type("2h")
    await terminal.shows("> For      2h_", "this is shorter: ", " are left now")
    await terminal.press("C-u")
    await terminal.type("72h")
    await terminal.press("Enter", "Enter")
    check(
      "extended",
      await terminal.shows("in place of the earlier lifetime", "add_temp    203.0.113.7         3d"),
    )

    await terminal.press("G", "k", "d")
    check("remove", await terminal.shows("Remove 2001:db8:1::/64 from the temporary list?"))
    await terminal.press("n")
    await terminal.shows("q quit")
    expect((await server.read<unknown[]>("/api/whitelist/temp")).length).toBe(5)
    await terminal.press("d", "y")
    check("removed", await terminal.shows("removed 2001:db8:1::/64", "delete_temp 2001:db8:1::/64"))
    expect((await server.read<unknown[]>("/api/whitelist/temp")).length).toBe(4)

    await terminal.press("/")
    await terminal.type("office")
    check("filter", await terminal.shows("TEMPORARY 1/4", "/ office_"))
    await terminal.press("Enter")
    await terminal.shows("filter: office")
    await terminal.resize(60, 15)
    check("60x15", await terminal.until(isDrawn(60, 15), "60x15"))
    await terminal.press("Escape")
    const small = await terminal.shows("TEMPORARY 4 ")
    expect(small.split("\n").every((line) => Bun.stringWidth(line) <= 60)).toBe(true)
    await terminal.press("?")
    check("help", await terminal.shows("KEYS", "any key goes back"))
    await terminal.press("x")
    await terminal.resize(100, 28)
    check("back", await terminal.shows("LET IN BEFORE", "ENDS", "TTL"))

    await terminal.press("G", "p")
    await terminal.shows("Let 203.0.113.7 in for good")
    await terminal.press("y")
    await terminal.shows("allowed 203.0.113.7 permanently", "TEMPORARY 3")
    await terminal.press("q")
    await terminal.until((screen) => screen.trimEnd().endsWith("$"), "the prompt")
    const lists = await Promise.all([
      server.read<Array<{ ip: string }>>("/api/whitelist/perm/list"),
      server.read<Array<{ ip: string }>>("/api/whitelist/temp"),
    ])
    expect(lists.map((list) => list.map(({ ip }) => ip).sort())).toEqual([
      ["192.0.2.0/28", "203.0.113.7"],
      ["192.0.2.77", "192.0.2.99", "198.51.100.128/25"],
    ])
  })

  test("time goes by on the screen: seconds count down, bars get shorter, and what has ended goes", async () => {
    await using day = await scene()
    const { server, terminal, watch } = day
    await server.api("POST", "/api/whitelist/temp", { ip: "192.0.2.1", ttl_seconds: 9 })
    await grant(server, "203.0.113.7", 8)
    await watch()
    const at = (screen: string) => {
      const row = line(screen, "192.0.2.1 ")
      return { left: Number(/ ([0-9]+)s /.exec(row)?.[1]), bar: row.split("█").length - 1 }
    }
    const before = at(await terminal.shows("192.0.2.1 "))
    await terminal.until((screen) => at(screen).left <= before.left - 3, "three seconds less")
    const after = at(await terminal.screen())
    expect(after.bar).toBeLessThan(before.bar)
    expect(after.bar).toBeGreaterThan(0)
    const ended = await terminal.shows("expire_temp 192.0.2.1", "TEMPORARY 1 ")
    expect(ended).toContain("> 203.0.113.7")
    await terminal.press("q")
  })

  test("a server that goes and comes back: the screen says so, stays, and misses nothing", async () => {
    await using day = await scene()
    const { place, server, terminal, watch } = day
    const { port } = new URL(server.url)
    await grant(server, "203.0.113.7", 8, "on call")
    await grant(server, "198.51.100.4", 9)
    await watch()
    await terminal.shows("on call")
    await server.kill()
    const gone = await terminal.shows("no answer since", "retrying")
    expect(gone).toContain("> 203.0.113.7")
    await terminal.press("d", "y")
    await terminal.shows("! 203.0.113.7: no ipgate server answers")
    // What is changed meanwhile is not in any stream.
    const offline = await place.ipgate([
      "--offline",
      "allow",
      "192.0.2.200",
      "--ttl",
      "4h",
      "-r",
      "while away",
    ])
    expect([offline.code, offline.stderr]).toEqual([0, ""])
    const since = await terminal.screen()
    const seconds = (screen: string) => Number(/no answer since ([0-9]+) s/.exec(screen)?.[1] ?? 0)
    await terminal.until((screen) => seconds(screen) > seconds(since), "a longer silence")

    const next = await place.serve(["--listen", `127.0.0.1:${port}`])
    const back = await terminal.shows("while away", "database ok", "TEMPORARY 3")
    expect(back).not.toContain("no answer")
    expect(back).toContain("> 203.0.113.7")
    await grant(next, "192.0.2.201", 5, "afterwards")
    await terminal.shows("afterwards", "TEMPORARY 4")
    await terminal.press("q")
    await terminal.until((screen) => screen.trimEnd().endsWith("$"), "the prompt")
  })

  test(
    fault(
      "L-01 L-04",
      "hostile and wide texts on the screen in a real terminal, at three sizes",
      "columns stay in their places, nothing drives the terminal",
    ),
    async () => {
      await using draft = await Workplace.make()
      await draft.ipgate(["--offline", "list"])
      let copies = 0
      const quoted = (text: string) => `CAST(x'${Buffer.from(text).toString("hex")}' AS TEXT)`
      const ends = Date.now() + 30 * 86_400_000
      const edited = await editedCopy(
        draft.database,
        () => draft.path(`copy-${++copies}.db`),
        FOREIGN.flatMap((text, i) => [
          `INSERT INTO temporary (key, ip, expires_at, reason) VALUES
           (x'${Buffer.from(entryKey(network(`203.0.113.${i + 1}`))).toString("hex")}', '203.0.113.${i + 1}',
            ${ends + i * 1000}, ${quoted(text)})`,
          `INSERT INTO audit (at, action, ip, ttl_seconds, reason, actor) VALUES
           (${Date.now() - 1000 * (FOREIGN.length - i)}, 'add_temp', ${quoted(text)}, 60, ${quoted(text)}, ${quoted(text)})`,
        ]),
      )
      await using day = await scene({ rows: 70, serve: ["--db", edited] })
      const { terminal, watch } = day
      for (const [columns, rows] of [
        [100, 90],
        [60, 40],
        [160, 90],
      ] as const) {
        await terminal.resize(columns, rows)
        if (columns === 100) await watch()
        const screen = await terminal.until(seenTwice(isDrawn(columns, rows)), `${columns}x${rows}`)
        const lines = screen.split("\n").slice(0, rows)
        // No line has begun another one, so all that should be below each other is.
        const heading = lines.findIndex((line) => line.includes("TEMPORARY"))
        const shown = Math.min(
          FOREIGN.length,
          lines.findIndex((line) => line.includes("REFUSED")) - heading - 1,
        )
        for (let i = 0; i < shown; i++) {
          expect([i, lines[heading + 1 + i]?.slice(2, 15).trim()]).toEqual([i, `203.0.113.${i + 1}`])
        }
        const left = lines[heading]?.indexOf("LEFT") ?? -1
        for (let i = 0; i < shown; i++)
          expect(lines[heading + 1 + i]?.slice(left, left + 4)).toMatch(/^(29|30)d/)
        expect(screen).toContain("KEEP")
        expect(lines.at(-1)).toContain("q quit")
        expect(screen).not.toContain("FORGED LINE\n")
      }
      await terminal.press("Tab", "Tab", "j", "j", "?", "x", "q")
      await terminal.until((screen) => screen.trimEnd().endsWith("$"), "the prompt")
      expect(await terminal.state()).toEqual({ isAlternate: false, hasCursor: true, wraps: true })
    },
  )

  test.each([
    ["NO_COLOR", { NO_COLOR: "1" }, []],
    ["--no-color", {}, ["--no-color"]],
  ] as const)("%s leaves the colours out, and nothing else", async (_, env, args) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
    const colour = /\x1b\[(?:[0-9;]*;)?(?:3[0-7]|38|4[0-7]|48|9[0-7]|10[0-7])[;m]/
    const screens: string[] = []
    for (const isColoured of [true, false]) {
      await using day = await scene(isColoured ? {} : { env })
      const { server, terminal, watch } = day
      await grant(server, "203.0.113.7", 8, "on call")
      await watch(...(isColoured ? [] : args))
      await terminal.shows("on call")
      expect(colour.test(await terminal.styledScreen())).toBe(isColoured)
      screens.push(steady(await terminal.screen()))
      await terminal.press("q")
    }
    expect(screens[1]).toBe(screens[0] ?? "")
  })

  test("what is pasted writes into a field, and gives no order", async () => {
    await using day = await scene()
    const { server, terminal, watch } = day
    await grant(server, "203.0.113.7", 8, "on call")
    await watch()
    await terminal.paste("dyq")
    await terminal.press("a")
    await terminal.shows("> Address  _")
    await terminal.paste("192.0.2.44\n")
    await terminal.shows("> Address  192.0.2.44_")
    await terminal.press("Enter", "Enter")
    await terminal.paste("a\x1b[31mred\u202e reason")
    // Three lines of the form stay: it says what is wrong, and sends nothing.
    await terminal.press("Enter")
    await terminal.shows("reason contains a control character")
    await terminal.press("C-u")
    await terminal.type("é 日本 👍")
    await terminal.press("Enter")
    await terminal.shows("allowed 192.0.2.44")
    const [, entry] = await server
      .read<Array<{ ip: string; reason: string }>>("/api/whitelist/temp")
      .then((list) => list.toSorted((a, b) => (a.ip < b.ip ? 1 : -1)))
    expect(entry).toMatchObject({ ip: "192.0.2.44", reason: "é 日本 👍" })
    await terminal.press("q")
  })

  test("what something else has written over the screen goes with Ctrl-L", async () => {
    await using day = await scene()
    const { server, terminal, watch } = day
    await grant(server, "203.0.113.7", 8, "on call")
    await watch()
    const before = steady(await terminal.shows("on call"))
    await terminal.scribble("\x1b[3;1HBroadcast message from root\x1b[13;90Hgoing down\x1b[5;1H")
    await terminal.shows("Broadcast message", "going down")
    await terminal.press("C-l")
    await terminal.until((screen) => steady(screen) === before, "itself again")
    await terminal.press("q")
  })

  describe("the terminal is left as it was found", () => {
    const FOUND = { isAlternate: false, hasCursor: true, wraps: true }

    /** What `stty` says of the terminal, in a file. */
    async function settings({ place, terminal }: Scene, name: string): Promise<string> {
      await terminal.run(`stty -g > ${place.path(name)}; echo ${name} written`)
      await terminal.until((screen) => screen.includes(`\n${name} written`), "the settings")
      return readFileSync(place.path(name), "utf8")
    }

    async function processOf({ terminal, place }: Scene): Promise<number> {
      const mark = place.path("pid")
      void terminal
      return Number(readFileSync(mark, "utf8"))
    }

    test.each([
      ["q", 0],
      ["C-c", 0],
      ["SIGTERM", 143],
      ["SIGINT", 130],
      ["SIGHUP", 129],
    ] as const)("after %s, with the exit code %d", async (how, code) => {
      await using day = await scene()
      const { terminal, place, command } = day
      await terminal.run("echo what was here before")
      const before = await settings(day, "before")
      // The shell that becomes the command has its number.
      await terminal.run(`bash -c 'echo $$ > ${place.path("pid")}; exec ${command()}'; echo "code $?"`)
      await terminal.shows("q quit", "database ok")
      expect(await terminal.state()).toEqual({ isAlternate: true, hasCursor: false, wraps: false })
      if (how.startsWith("SIG")) process.kill(await processOf(day), how as NodeJS.Signals)
      else await terminal.press(how)
      const screen = await terminal.shows(`code ${code}`)
      expect(screen).toContain("what was here before")
      expect(screen).not.toContain("TEMPORARY")
      expect(await terminal.state()).toEqual(FOUND)
      expect(await settings(day, "after")).toBe(before)
    })

    test.each([
      ["an error that nobody catches", 'throw new Error("a fault of the program")'],
      ["a promise that nobody waits for", 'void Promise.reject(new Error("a fault of the program"))'],
    ])("after %s, which is told", async (_, fault) => {
      await using day = await scene()
      const { terminal, place } = day
      await terminal.run("echo what was here before")
      const before = await settings(day, "before")
      // The program itself, with a fault that waits for a file.
      const preload = await place.write(
        "fault.ts",
        `import { existsSync } from "node:fs"
         const timer = setInterval(() => {
           if (!existsSync(${JSON.stringify(place.path("now"))})) return
           clearInterval(timer)
           ${fault}
         }, 20)`,
      )
      await terminal.run(
        `${process.execPath} --preload ${preload} ${join(ROOT, "cli/main.ts")} watch; echo "code $?"`,
      )
      await terminal.shows("q quit", "database ok")
      await place.write("now", "")
      const screen = await terminal.shows("ipgate: a fault of the program", "code 1")
      expect(screen).toContain("what was here before")
      expect(await terminal.state()).toEqual(FOUND)
      expect(await settings(day, "after")).toBe(before)
    })

    test("and not taken at all without a server, or with a wrong token", async () => {
      await using day = await scene()
      const { terminal, place, server, command } = day
      const wrong = await place.write("wrong-token", `${TOKEN.toUpperCase()}\n`, 0o600)
      await terminal.run(`${command("--token-file", wrong)}; echo "code $?"`)
      await terminal.shows("missing or invalid token", "code 4")
      await server.stop()
      await terminal.run(`${command()}; echo "code $?"`)
      const screen = await terminal.shows("no ipgate server answers", "code 5")
      expect(screen).not.toContain("TEMPORARY")
      expect(await terminal.state()).toEqual(FOUND)
    })
  })

  test("a terminal that cannot show a screen gets the list once", async () => {
    await using day = await scene()
    const { server, terminal, command } = day
    await grant(server, "203.0.113.7", 8, "on call")
    await terminal.run(`TERM=dumb ${command()}; echo "code $?"`)
    await terminal.shows("LIST  IP ", "temp  203.0.113.7", "code 0")
    await terminal.run(`clear; ${command()} < /dev/null; echo "code $?"`)
    await terminal.shows("LIST  IP ", "temp  203.0.113.7", "code 0")
  })
})

/** True for a screen that has been drawn for this size, to its last line. */
const isDrawn = (columns: number, rows: number) => (screen: string) => {
  const lines = screen.trimEnd().split("\n")
  const hasColumns = line(screen, "ADDRESS").includes("CLIENT") === columns >= 100
  return lines.length === rows && hasColumns && (lines.at(-1) ?? "").includes("q quit")
}

/** True for a screen that was the same when it was last looked at: a terminal can be caught in the middle of a frame. */
function seenTwice(isReady: (screen: string) => boolean): (screen: string) => boolean {
  let before = ""
  return (screen) => {
    const isStill = screen === before
    before = screen
    return isStill && isReady(screen)
  }
}

/** Reasons that other programs have written into the database. Each has KEEP in it where it must be seen. */
const FOREIGN: readonly string[] = [
  "KEEP plain",
  "KEEP\x1b[31m red \x1b[2J\x1b[H gone",
  "\x1b]0;title\x07KEEP\x1b]52;c;ZXZpbA==\x07",
  "KEEP\nFORGED LINE\nand another",
  "KEEP\r\rover",
  "KEEP\x9b2J\x90q\x9c",
  "KEEP \u202egnihton\u202c \u2066x\u2069",
  "KEEP 日本語のとても長い理由 ".repeat(12),
  `KEEP ${"e\u0301".repeat(90)}`,
  `KEEP ${"\u0301\u0300\u0302".repeat(120)}`,
  `KEEP ${"👨‍👩‍👧‍👦".repeat(30)}`,
  `KEEP ${"🇩🇪🇫🇷".repeat(30)}`,
  `KEEP ${"❤️☎️".repeat(40)}`,
  "KEEP\ttab\ttab\u2028line\u2029paragraph\u0085next",
  `KEEP ${"각ᄀ".repeat(60)}`,
  "x".repeat(499),
]
