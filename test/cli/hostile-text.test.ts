// Text that drives terminals: in rows that others wrote, in a server's answers, and in what the user typed. None gets out.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { entryKey } from "../../src/store/entry-key.ts"
import { fault } from "../faults/fault.ts"
import { active } from "../support/active-characters.ts"
import { CliMachine, type CliRun, throughBothGatesOnce } from "../support/cli.ts"
import { network } from "../support/parsed.ts"
import { TOKEN } from "../support/running-server.ts"
import { editedCopy, temporaryPaths } from "../support/temp-store.ts"

const HOSTILE: ReadonlyArray<readonly [what: string, text: string]> = [
  ["a colour", "\x1b[31mred\x1b[0m"],
  ["a colour in one byte", "\x9b31mred"],
  ["a cleared screen", "\x1b[2J\x1b[H"],
  ["a carriage return", "harmless\rmalicious"],
  ["a backspace", "deny\b\b\b\ballow"],
  ["a bell", "ding\x07"],
  ["a window title", "\x1b]0;title\x07"],
  ["the clipboard (OSC 52)", "\x1b]52;c;ZXZpbA==\x07"],
  ["a link (OSC 8)", "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\"],
  ["a device control string", "\x90q\x9c"],
  ["a line feed", "first\n2026-01-01T00:00:00Z  add_perm  6.6.6.6  -  -  forged"],
  ["a next line", "first\u0085second"],
  ["a line separator", "first\u2028second\u2029third"],
  ["a tab", "a\tb"],
  ["a delete", "a\x7fb"],
  ["text turned around", "\u202egnp.exe\u202c"],
  ["isolated text", "\u2066x\u2069 \u2067y\u2069"],
  ["marks of direction", "\u200ea\u200fb\u061cc"],
  ["invisible text", "a\u200b\ufeff\u2060b"],
  ["tag characters", "a\u{e0041}\u{e007f}"],
  ["a quote and a backslash", `"},{"ip":"6.6.6.6\\`],
]

const TEXTS = HOSTILE.map(([, text]) => text)

function expectInactive({ out, err }: CliRun): void {
  expect({ out: active(out), err: active(err) }).toEqual({ out: [], err: [] })
}

test("what is looked for is found", () => {
  const harmless = new Set(["a line feed", "a quote and a backslash"])
  for (const [what, text] of HOSTILE)
    expect([what, active(text).length > 0]).toEqual([what, !harmless.has(what)])
})

describe(
  fault(
    "L-01 L-03",
    "hostile texts in every column of a database, shown by every command",
    "no active character, one row one line, no forged entry",
  ),
  () => {
    const path = temporaryPaths()
    const options: { database?: string } = {}
    const temporary = (i: number) => `203.0.113.${i + 1}`
    const permanent = (i: number) => `198.51.100.${i + 1}`
    const quoted = (text: string) => `CAST(x'${Buffer.from(text).toString("hex")}' AS TEXT)`
    const key = (ip: string) => `x'${Buffer.from(entryKey(network(ip))).toString("hex")}'`

    beforeAll(async () => {
      const machine = new CliMachine()
      const empty = path()
      await machine.run(`list --offline --db ${empty}`)
      machine.remove()
      const at = Date.UTC(2025, 0, 1)
      const ends = Date.UTC(2027, 0, 1)
      options.database = await editedCopy(
        empty,
        path,
        TEXTS.flatMap((text, i) => [
          `INSERT INTO temporary (key, ip, expires_at, reason)
           VALUES (${key(temporary(i))}, '${temporary(i)}', ${ends + i}, ${quoted(text)})`,
          `INSERT INTO permanent (key, ip) VALUES (${key(permanent(i))}, ${quoted(text)})`,
          `INSERT INTO audit (at, action, ip, ttl_seconds, reason, actor)
           VALUES (${at + i}, 'add_temp', ${quoted(text)}, 60, ${quoted(text)}, ${quoted(text)})`,
        ]),
      )
    })

    throughBothGatesOnce((world) => {
      let stop = () => {}
      const COMMANDS = [
        "list",
        "list --temp",
        "list --perm",
        "logs",
        "logs --action add_temp -n 500",
        "logs --since 2024-01-01",
        "check 203.0.113.1 198.51.100.1 192.0.2.1",
        "allow 203.0.113.1 198.51.100.1 --dry-run",
        "allow 203.0.113.1 198.51.100.1 --ttl 1h --dry-run",
        "deny 203.0.113.1 198.51.100.1 --dry-run",
        "status",
      ]

      test.each(COMMANDS.flatMap((command) => [command, `${command} --json`]))("%s", async (command) => {
        const result = await world().run(command)
        expect(result.out).not.toBe("")
        expectInactive(result)
      })

      test.each(["logs -f -n 500", "logs -f -n 500 --json"])("%s", async (command) => {
        // Nobody can follow what no server writes.
        if (world().kind === "off-line") return
        let out = ""
        const { err } = await world().run(command, {
          // What it has shown by the end of the log is all there is, so the last row ends it.
          write: (text) => {
            out += text
            if (out.split("\n").length > TEXTS.length) stop()
          },
          untilSignal: (handle) => {
            stop = () => handle("SIGTERM")
          },
        })
        expect(out.split("\n")).toHaveLength(TEXTS.length + 1)
        expectInactive({ code: 0, out, err })
      })

      test("a row stays one line for people", async () => {
        expect((await world().run("list --temp")).out.split("\n")).toHaveLength(TEXTS.length + 2)
        expect((await world().run("logs -n 500")).out.split("\n")).toHaveLength(TEXTS.length + 2)
      })

      test("programs get back the very text", async () => {
        const temporaryRows = (await world().json("list --temp")) as Array<{ ip: string; reason: string }>
        expect(temporaryRows.map(({ reason }) => reason)).toEqual(TEXTS)
        expect(await world().addresses("list --perm")).toEqual(TEXTS)
        const log = (await world().json("logs")) as Array<{
          ip: string
          reason: string
          api_client_ip: string
        }>
        expect(log.map(({ ip, reason, api_client_ip }) => [ip, reason, api_client_ip])).toEqual(
          TEXTS.map((text) => [text, text, text]).reverse(),
        )
      })

      // A permanent row whose text is not its address lets nobody in, so an export must not hold it: it may be imported.
      test.each(["csv", "values", "json"])(
        "export --format %s has each entry, and none that a text forged",
        async (format) => {
          const result = await world().do(`export --format ${format}`)
          expectInactive(result)
          const addresses =
            format === "json"
              ? (JSON.parse(result.out) as Array<{ ip: string }>).map(({ ip }) => ip)
              : result.out.split("\n").flatMap((line) => /^[0-9.]+/.exec(line)?.[0] ?? [])
          expect(addresses).toEqual(TEXTS.map((_, i) => temporary(i)))
        },
      )

      // Last, because these change the rows.
      test.each([
        "allow 203.0.113.1 --ttl 1h",
        "allow 198.51.100.1",
        "deny 203.0.113.2 198.51.100.2",
        "deny 203.0.113.3 198.51.100.3 --json",
      ])("%s", async (command) => {
        expectInactive(await world().run(command))
      })
    }, options)
  },
)

describe(fault("A-21", "a row whose text is no address", "shown, escaped, and lets nobody in"), () => {
  const path = temporaryPaths()
  const options: { database?: string } = {}

  beforeAll(async () => {
    const machine = new CliMachine()
    const empty = path()
    await machine.run(`list --offline --db ${empty}`)
    machine.remove()
    const key = Buffer.from(entryKey(network("192.0.2.77"))).toString("hex")
    options.database = await editedCopy(empty, path, [
      `INSERT INTO temporary (key, ip, expires_at) VALUES (x'${key}', 'nobody\x1b[8m', ${Date.UTC(2027, 0, 1)})`,
    ])
  })

  throughBothGatesOnce((world) => {
    test("lets nobody in, and is in the list all the same", async () => {
      expect((await world().run("check 192.0.2.77")).code).toBe(1)
      const result = await world().run("list --temp")
      expect(result.out.split("\n")).toHaveLength(3)
      expectInactive(result)
    })
  }, options)
})

describe(
  fault("L-01", "a server whose answers are hostile texts", "no active character in any output"),
  () => {
    const texts = TEXTS.join(" ")
    const entry = { ip: texts, reason: texts, expires: "2027-01-01T00:00:00Z" }
    const record = {
      timestamp: "2026-01-01T00:00:00Z",
      action: "add_temp",
      ip: texts,
      ttl_seconds: 60,
      reason: texts,
      api_client_ip: texts,
    }
    const match = { list: "temp", ip: texts, expires: "2027-01-01T00:00:00Z" }
    const refused = {
      ip: texts,
      count: 1,
      first_seen: "2026-01-01T00:00:00Z",
      last_seen: "2026-01-01T00:00:00Z",
      last_entry: { list: "temp", ip: texts, ended: "2026-01-01T00:00:00Z", how: "expired" },
    }
    let server: Bun.Server<undefined>
    let machine: CliMachine

    beforeAll(() => {
      const answers: Readonly<Record<string, () => Response>> = {
        "GET /status": () =>
          Response.json({
            status: texts,
            uptime: texts,
            perm_whitelist_count: 1,
            temp_whitelist_count: 1,
            db_ok: true,
          }),
        "GET /api/whitelist/temp/list": () => Response.json([entry]),
        "GET /api/whitelist/perm/list": () => Response.json([entry]),
        "GET /api/logs": () => Response.json([record]),
        "GET /api/denied": () => Response.json([refused]),
        "GET /api/events": () =>
          new Response(`id: 1\nevent: change\ndata: ${JSON.stringify(record)}\n\n`, {
            headers: { "Content-Type": "text/event-stream" },
          }),
        "GET /api/check": () =>
          Response.json({ ip: texts, allowed: true, matched_by: match, matches: [match] }),
      }
      server = Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        fetch: (request) => {
          const answer = answers[`${request.method} ${new URL(request.url).pathname}`]
          return answer === undefined ? new Response(texts, { status: 400 }) : answer()
        },
      })
      machine = new CliMachine({
        environment: { IPGATE_SERVER: `127.0.0.1:${server.port}`, IPGATE_TOKEN: TOKEN },
      })
    })

    afterAll(async () => {
      machine.remove()
      await server.stop(true)
    })

    test.each(
      [
        "status",
        "list",
        "logs",
        "check 203.0.113.7",
        "deny 203.0.113.7 --dry-run",
        "allow 203.0.113.7",
        "allow 203.0.113.7 --ttl 1h",
        "deny 203.0.113.7",
        "denied",
        "export",
      ].flatMap((command) => [command, `${command} --json`]),
    )("%s", async (command) => {
      const result = await machine.run(command)
      expect(result.out + result.err).not.toBe("")
      expectInactive(result)
      if (command.endsWith("--json")) JSON.parse(result.out + result.err)
    })
  },
)

describe(
  fault(
    "L-01",
    "hostile texts as arguments, options, input, variables and files",
    "no active character in any message",
  ),
  () => {
    const machine = new CliMachine({ environment: { IPGATE_TOKEN: TOKEN } })
    afterAll(() => machine.remove())

    const PLACES: ReadonlyArray<readonly [what: string, argv: (text: string) => string[]]> = [
      ["a command", (text) => [text]],
      ["an option", (text) => ["list", `--${text}`]],
      ["a superfluous argument", (text) => ["list", text]],
      ["an address to allow", (text) => ["allow", text]],
      ["an address to deny", (text) => ["deny", text]],
      ["an address to check", (text) => ["check", text]],
      ["a network", (text) => ["allow", `10.0.0.0/${text}`]],
      ["a lifetime", (text) => ["allow", "203.0.113.7", "--ttl", text]],
      ["an end", (text) => ["allow", "203.0.113.7", "--until", text]],
      ["a reason without a lifetime", (text) => ["allow", "203.0.113.7", "--reason", text]],
      ["an action", (text) => ["logs", "--action", text]],
      ["a filter", (text) => ["logs", "--ip", text]],
      ["a beginning", (text) => ["logs", "--since", text]],
      ["a number of rows", (text) => ["logs", "-n", text]],
      ["a number of refused clients", (text) => ["denied", "-n", text]],
      ["a time to wait", (text) => ["status", "--wait", text]],
      ["a server", (text) => ["list", "--server", text]],
      ["a socket", (text) => ["list", "--server", `unix:/proc/no/such/${text}`]],
      ["a token file", (text) => ["list", "--token-file", text, "--server", "unix:/proc/no/such/socket"]],
      ["a configuration file", (text) => ["list", "--config", text]],
      ["a database", (text) => ["list", "--offline", "--db", `/proc/no/such/${text}`]],
      ["a database of another kind", (text) => ["serve", "--db", `https:${text}`]],
      ["a listen address", (text) => ["serve", "--listen", text]],
      ["a proxy", (text) => ["serve", "--trusted-proxies", text]],
      ["a header", (text) => ["serve", "--client-ip-header", text]],
      ["a file to import", (text) => ["import", text]],
      ["a file to import of a known kind", (text) => ["import", `${text}.csv`]],
      ["a format", (text) => ["import", "-", "--format", text]],
      ["a lifetime for many", (text) => ["import", "-", "--format", "values", "--ttl", text]],
      [
        "a number of removals",
        (text) => ["import", "-", "--format", "values", "--prune", "--max-removals", text],
      ],
      ["a proxy to configure", (text) => ["proxy", text]],
      ["a socket for a proxy", (text) => ["proxy", "nginx", "--listen", `unix:/${text}`]],
      ["a topic of help", (text) => ["help", text]],
    ]

    test.each(PLACES)("%s", async (_, argv) => {
      for (const text of TEXTS) {
        const result = await machine.run(argv(text))
        expect(result.code).not.toBe(0)
        expect(result.out).toBe("")
        expect(result.err).not.toBe("")
        expectInactive(result)
      }
    })

    test.each(PLACES)("%s, for programs", async (_, argv) => {
      for (const text of TEXTS) {
        const result = await machine.run(["--json", ...argv(text)])
        expect(result.code).not.toBe(0)
        expect(result.out).toBe("")
        expectInactive(result)
        expect(JSON.parse(result.err)).toMatchObject({ error: { exit_code: result.code } })
      }
    })

    test("a line of standard input", async () => {
      for (const text of TEXTS) {
        const result = await machine.run("allow -", { input: `203.0.113.7\n${text}\n` })
        expect(result.code).toBe(2)
        expectInactive(result)
      }
    })

    test.each(["values", "csv", "json"])("a file of many entries, as %s", async (format) => {
      const cell = (text: string) => `"${text.replaceAll('"', '""')}"`
      for (const text of TEXTS) {
        const inputs: Readonly<Record<string, string>> = {
          values: `203.0.113.7\n${text}\n`,
          csv: `ip,list,ttl,reason\n${cell(text)},,,\n203.0.113.7,${cell(text)},,\n203.0.113.7,,${cell(text)},\n`,
          json: JSON.stringify([text, { ip: "203.0.113.7", list: text }, { ip: "203.0.113.7", ttl: text }]),
        }
        const result = await machine.run(`import - --format ${format}`, { input: inputs[format] ?? "" })
        expect(result).toMatchObject({ code: 2, out: "" })
        expectInactive(result)
      }
    })

    test("a variable or a configuration file", async () => {
      for (const text of TEXTS) {
        const config = machine.file(
          "ipgate.toml",
          `[client]\nserver = ${JSON.stringify(text)}\n"${text}" = 1\n`,
        )
        expectInactive(await machine.run(["list", "-c", config]))
        expectInactive(await machine.run("list", { environment: { IPGATE_SERVER: text } }))
        expectInactive(await machine.run("list", { environment: { IPGATE_TOKEN: text } }))
        expectInactive(await machine.run("serve --check", { environment: { IPGATE_LISTEN: text } }))
      }
    })

    // What somebody pastes must not look like a message of the program.
    test.each([
      ["an address", ["allow", "x\nipgate: all is well"]],
      ["a lifetime", ["allow", "203.0.113.7", "--ttl", "x\nipgate: all is well"]],
      ["an end", ["allow", "203.0.113.7", "--until", "x\nipgate: all is well"]],
      ["a beginning", ["logs", "--since", "x\nipgate: all is well"]],
      ["a number of rows", ["logs", "-n", "x\nipgate: all is well"]],
      ["a number of refused clients", ["denied", "-n", "x\nipgate: all is well"]],
      ["a time to wait", ["status", "--wait", "x\nipgate: all is well"]],
    ])("a line feed in %s begins no line of its own", async (_, argv) => {
      const { code, err } = await machine.run(argv)
      expect(code).toBe(2)
      expect(err.split("\n").filter((line) => line.startsWith("ipgate: "))).toHaveLength(1)
    })

    test("a text of a megabyte is cut", async () => {
      for (const argv of [
        ["allow", "x".repeat(1_000_000)],
        ["allow", "203.0.113.7", "--ttl", "x".repeat(1_000_000)],
      ]) {
        expect((await machine.run(argv)).err.length).toBeLessThan(1_000)
      }
    })
  },
)
