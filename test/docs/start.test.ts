// ./scripts/start, as the README begins with it: in a copy of the project, and then whatever it says to try next.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { freePort } from "../support/free-port.ts"
import { CURL } from "./console.ts"

const ROOT = join(import.meta.dir, "../..")
const NEEDED = [
  "CHANGELOG.md",
  "package.json",
  "bun.lock",
  "bunfig.toml",
  "tsconfig.json",
  "src",
  "cli",
  "scripts",
]

const project = mkdtempSync(join(tmpdir(), "ipgate-start-"))

beforeAll(() => {
  for (const name of NEEDED) cpSync(join(ROOT, name), join(project, name), { recursive: true })
  symlinkSync(join(ROOT, "node_modules"), join(project, "node_modules"))
  writeFileSync(join(project, "api-token"), "a-token-for-tests-of-48-characters-0123456789ab!\n", {
    mode: 0o600,
  })
  writeFileSync(join(project, "ipgate.toml"), "")
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

test.skipIf(CURL === null)(
  "it builds, serves, and says what to try next; that works, and Ctrl-C stops it",
  async () => {
    // The script says its hints only for the default address, so it cannot choose a port itself.
    const address = `127.0.0.1:${await freePort()}`
    const env = {
      PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ""}`,
      HOME: project,
      TMPDIR: project,
      IPGATE_CONFIG: join(project, "ipgate.toml"),
      // Named, so that root's run leaves the state of the system alone.
      IPGATE_DB: join(project, "ipgate.db"),
      IPGATE_TOKEN_FILE: join(project, "api-token"),
      IPGATE_LISTEN: address,
      IPGATE_SERVER: address,
    }
    // A group of its own, so that nothing is left even if the script should not become the server.
    const started = Bun.spawn(["./scripts/start"], {
      cwd: project,
      env,
      stdout: "pipe",
      stderr: "ignore",
      detached: true,
    })
    try {
      let said = ""
      for await (const text of started.stdout.pipeThrough(new TextDecoderStream())) {
        said += text
        if (said.includes("Ctrl-C stops it.")) break
      }
      const hints = said.split("\n").flatMap((line) => /^ {2}(\S.*)$/.exec(line)?.[1] ?? [])
      expect(hints.map((hint) => hint.split(" ")[0])).toEqual(["./dist/ipgate", "curl", "./dist/ipgate"])
      const outputs = hints.map((hint) => {
        const command = hint.replaceAll("127.0.0.1:8765", address)
        const { exitCode, stdout } = Bun.spawnSync(["bash", "-c", command], {
          cwd: project,
          env,
          stderr: "ignore",
        })
        expect({ command, exitCode }).toEqual({ command, exitCode: 0 })
        return stdout.toString()
      })
      expect(outputs[0]).toStartWith("allowed 203.0.113.7 until ")
      expect(outputs[1]).toStartWith("HTTP/1.1 204 ")
      expect(outputs[2]).toStartWith("ipgate   ok, ")
      expect(existsSync(join(project, "ipgate.db"))).toBe(true)
      started.kill("SIGINT")
      expect(await Promise.race([started.exited, Bun.sleep(20_000)])).toBe(0)
    } finally {
      endGroup(started.pid)
    }
  },
  120_000,
)

function endGroup(id: number): void {
  try {
    process.kill(-id, "SIGKILL")
  } catch {
    // Nobody is left in it.
  }
}
