// Every command of the built binary in a real terminal, over rows, answers and names that try to drive it.

import { expect, setDefaultTimeout, test } from "bun:test"
import fc from "fast-check"
import type { ProcessEnv } from "../../cli/command-env.ts"
import { buildProgram } from "../../cli/program.ts"
import { entryKey } from "../../src/store/entry-key.ts"
import { active } from "../support/active-characters.ts"
import { builtBinary, type ServerProcess, Workplace } from "../support/binary.ts"
import { network } from "../support/parsed.ts"
import { editedCopy } from "../support/temp-store.ts"
import { fault } from "./fault.ts"
import { rounds } from "./rounds.ts"
import { tally } from "./tally.ts"

setDefaultTimeout(600_000)

/** Pieces of what terminals obey, between pieces of what people write. */
const hostileText = fc
  .array(
    fc.constantFrom(
      ..."\x1b\x9b\x90\x9c\x9d\x07\b\r\n\t\x7f\x85\0\x0e\x0f\u2028\u2029\u202e\u2066\u2069\u200e\u061c\u200b\ufeff",
      ...[
        "\x1b[2J",
        "\x1b]52;c;ZXZpbA==\x07",
        "\x1b]8;;http://evil.example\x1b\\",
        "\x1b]0;t\x07",
        "\x1b[6n",
        "\x1bc",
      ],
      ...["on call", "é", "漢字", "👩‍👩‍👧", "z\u0335\u0336", "\u{e0041}", '"', "\\", "%s", "=1+1", ";", ","],
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((pieces) => pieces.join(""))

/** Runs a command in a pseudo-terminal: all that it wrote there, and its exit code. */
async function inTerminal(place: Workplace, server: ServerProcess | null, args: readonly string[]) {
  const pieces: Uint8Array[] = []
  const closed = Promise.withResolvers<void>()
  const env = {
    ...place.env,
    ...(server === null ? {} : { IPGATE_SERVER: server.url }),
    TERM: "xterm-256color",
  }
  const child = Bun.spawn([builtBinary(), ...args], {
    cwd: place.directory,
    env,
    terminal: {
      cols: 100,
      rows: 50,
      data: (_, bytes) => void pieces.push(Uint8Array.from(bytes)),
      exit: () => closed.resolve(),
    },
  })
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000)
  const code = await child.exited
  clearTimeout(timer)
  child.terminal?.close()
  await closed.promise
  return { code, text: Buffer.concat(pieces).toString("utf8") }
}

test(
  fault(
    "L-01",
    "rows, records and names made of escape sequences, shown by every command of the binary in a pseudo-terminal",
    "nothing in the output but lines of visible text",
  ),
  async () => {
    await using place = await Workplace.make()
    await place.ipgate(["--offline", "list"])
    const texts = fc.sample(hostileText, rounds(150, 5_000))
    let copies = 0
    const quoted = (text: string) => `CAST(x'${Buffer.from(text).toString("hex")}' AS TEXT)`
    const address = (i: number, first: number) => `${first}.0.${i >> 8}.${i & 255}`
    const key = (ip: string) => `x'${Buffer.from(entryKey(network(ip))).toString("hex")}'`
    const ends = Date.now() + 86_400_000
    const edited = await editedCopy(
      place.database,
      () => place.path(`copy-${++copies}.db`),
      texts.flatMap((text, i) => [
        `INSERT INTO temporary (key, ip, expires_at, reason) VALUES (${key(address(i, 10))}, ${quoted(text)}, ${ends + i}, ${quoted(text)})`,
        `INSERT INTO permanent (key, ip) VALUES (${key(address(i, 11))}, ${quoted(text)})`,
        `INSERT INTO audit (at, action, ip, ttl_seconds, reason, actor) VALUES (${Date.now() - i}, 'add_temp', ${quoted(text)}, 60, ${quoted(text)}, ${quoted(text)})`,
      ]),
    )
    const server = await place.serve(["--db", edited])
    await server.decision("192.0.2.9")
    const name = "\x1b[2J\x1b]0;t\x07\u202e.txt"
    await place.write(name, `${texts.join("\n")}\n10.9.9.9 \x1b[31m\n`)
    const commands: ReadonlyArray<readonly string[]> = [
      ["list"],
      ["list", "--json"],
      ["logs", "-n", "5000"],
      ["logs", "-n", "5000", "--json"],
      ["check", "10.0.0.1", "11.0.0.1", "192.0.2.1"],
      ["check", "10.0.0.1", "--json"],
      ["denied"],
      ["status"],
      ["export"],
      ["export", "--format", "values"],
      ["export", "--json"],
      ["allow", "10.0.0.1", "11.0.0.1", "--ttl", "1h", "--dry-run"],
      ["deny", "10.0.0.2", "11.0.0.2", "--dry-run"],
      ["deny", "10.0.0.3", "11.0.0.3"],
      ["deny", "10.0.0.4", "11.0.0.4", "--json"],
      ["import", name],
      ["import", `${name}.missing`],
      ["proxy", name],
      ["doctor"],
      ["doctor", "--via", `http://${name}/`],
      [name],
      ["--config", name, "status"],
      ["--server", name, "status"],
      ["--token-file", name, "list"],
      ["serve", "--check", "--listen", name],
      ["serve", "--check", "--trusted-proxies", name],
      ["serve", "--check", "--db", `file:${name}`],
      // Whatever commands there are, with a name that none of them knows.
      ...buildProgram({} as ProcessEnv).program.commands.flatMap((command) => [
        [command.name(), "--help"],
        [command.name(), name],
        [command.name(), `--${name}`, "--json"],
      ]),
      ...texts.slice(0, rounds(8, 100)).flatMap((text) => {
        const argument = text.replaceAll("\0", "")
        return [
          ["allow", argument],
          ["deny", argument],
          ["check", argument],
          ["allow", "10.0.0.1", "--ttl", argument],
          ["allow", "10.0.0.1", "--ttl", "1h", "--reason", argument, "--dry-run"],
          ["logs", "--action", argument],
        ]
      }),
    ]
    let shown = 0
    for (const args of commands) {
      const { code, text } = await inTerminal(place, server, args)
      // The terminal itself makes CR LF of each line feed.
      const found = active(text.replaceAll("\r\n", "\n"))
      expect({ args, code: code < 128, found }).toEqual({ args, code: true, found: [] })
      if (text !== "") shown++
    }
    expect(shown).toBeGreaterThan(commands.length / 2)
    expect(active(server.log())).toEqual([])
    await server.stop()
    for (const args of [["list"], ["logs", "-n", "5000"], ["export"], ["check", "10.0.0.1"]]) {
      const { text } = await inTerminal(place, null, [...args, "--offline", "--db", edited])
      expect({ args, found: active(text.replaceAll("\r\n", "\n")) }).toEqual({ args, found: [] })
    }
    tally("inputsFuzzed", texts.length)
  },
)
