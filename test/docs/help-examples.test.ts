// Every example in a help text, run with the built binary: exit code 0, after the entries that it speaks of were added.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { ProcessEnv } from "../../cli/command-env.ts"
import { EXIT } from "../../cli/exit.ts"
import { buildProgram } from "../../cli/program.ts"
import { NGINX } from "../support/nginx.ts"
import { Console } from "./console.ts"

const { program } = buildProgram({} as ProcessEnv)
const commands = program.commands.flatMap((command) => [
  command.name(),
  ...command.commands.map((below) => `${command.name()} ${below.name()}`),
])

/** What the examples read. */
const FILES = {
  "addresses.txt": "198.51.100.4\n# a comment\n2001:db8::/64\n",
  "office.txt": "192.0.2.64/26\n",
  "partners.csv": "ip,ttl,reason\n198.51.100.128/25,,\n203.0.113.9,8h,audit\n",
}

let admin: Console
beforeAll(async () => {
  admin = new Console()
  for (const [name, content] of Object.entries(FILES)) admin.write(name, content)
  await admin.serve("ipgate serve --listen 127.0.0.1:0 unix:/run/ipgate/ipgate.sock")
  if (NGINX !== null) await admin.publish("https://example.org/")
})
afterAll(() => admin.close())

describe.each(["", ...commands])("ipgate %s --help", (command) => {
  test("begins with examples, and each of them works", async () => {
    const examples = await examplesOf(command)
    expect(examples.length).toBeGreaterThan(0)
    for (const example of examples) {
      if (example.startsWith("ipgate serve")) continue
      if (example.includes("example.org") && NGINX === null) continue
      expect(await admin.run("ipgate allow 203.0.113.7 --ttl 8h; ipgate allow 192.0.2.0/28")).toMatchObject({
        exitCode: 0,
      })
      const { output, exitCode } = await admin.run(example)
      expect({ example, output, exitCode }).toEqual({ example, output, exitCode: 0 })
      if (example.includes("--json")) expect(() => JSON.parse(output)).not.toThrow()
    }
  }, 30_000)
})

test("ipgate --help has every exit code", async () => {
  const { output } = await admin.run("ipgate --help")
  const codes = [...output.slice(output.indexOf("Exit codes:")).matchAll(/(?<=^| {2})\d+(?= )/gm)].map(Number)
  expect(codes).toEqual(Object.values(EXIT).toSorted((a, b) => a - b))
})

describe("ipgate serve", () => {
  // Another console: the server of the first one keeps its database.
  let other: Console
  beforeAll(() => {
    other = new Console()
  })
  afterAll(() => other.close())

  test("the examples of its help start, answer, and stop", async () => {
    const examples = await examplesOf("serve")
    expect(examples.length).toBeGreaterThan(2)
    for (const example of examples) {
      // To the letter: the configuration is accepted. For real: with free ports of this machine, and a place to write.
      expect(await other.run(`${example} --check`)).toEqual({
        output: "the configuration is valid",
        exitCode: 0,
      })
      await other.serve(
        example
          .replace(/(?:127\.0\.0\.1|0\.0\.0\.0):\d+/, "127.0.0.1:0")
          .replace("/srv/", "/home/admin/srv/"),
      )
      expect(await other.run("ipgate status --quiet")).toEqual({ output: "", exitCode: 0 })
      expect(await other.endServer("SIGTERM")).toMatchObject({ exitCode: 0 })
    }
  }, 30_000)

  test("the example that listens beyond this machine is refused without its proxies", async () => {
    const examples = await examplesOf("serve")
    const open = examples.find((example) => example.includes("0.0.0.0")) ?? ""
    const { exitCode } = await other.run(`${open.replace(/ --trusted-proxies \S+/, "")} --check`)
    expect(exitCode).toBe(78)
  })
})

/** The lines below "Examples:", without the remarks beside them. */
async function examplesOf(command: string): Promise<string[]> {
  const { output, exitCode } = await admin.run(`ipgate ${command} --help`)
  expect(exitCode).toBe(0)
  const examples = /^Examples:\n((?: {2}.*\n)+)/.exec(output)?.[1] ?? ""
  return examples
    .split("\n")
    .map((line) => line.trim().replace(/ {3,}.*$/, ""))
    .filter((line) => line !== "")
}
