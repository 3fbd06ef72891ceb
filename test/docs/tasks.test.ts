// The table of tasks in README.md: each command in it, run in its order with the built binary.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { NGINX } from "../support/nginx.ts"
import { Console } from "./console.ts"
import { codeIn, rowsUnder } from "./markdown.ts"
import { readPage } from "./pages.ts"

/** Commands that no test of this folder runs, each with the reason. */
const NOT_RUN_HERE: Readonly<Record<string, string>> = {
  "sudo systemctl reload ipgate": "needs a systemd; test/system reloads",
  "sudo systemctl restart ipgate": "needs a systemd; test/system restarts",
}

/** A code span that is a whole command, and no part of one. */
const COMMAND = /^(?:ipgate|sudo|\(umask) /

const tasks = rowsUnder(readPage("README.md"), "task").map(([task = "", how = ""]) => ({
  task,
  commands: codeIn(how).filter((code) => COMMAND.test(code)),
}))

let admin: Console
beforeAll(async () => {
  admin = new Console()
  admin.write("office.txt", "192.0.2.64/26\n")
  await admin.run("(umask 077; mkdir data; printf '%064d\\n' 7 > data/api-token)")
  await admin.serve("ipgate serve")
  if (NGINX !== null) await admin.publish("https://example.org/")
})
afterAll(() => admin.close())

test("commands that are not run are those of the list", () => {
  const all = tasks.flatMap(({ commands }) => commands)
  expect(all.length).toBeGreaterThan(20)
  expect(all.filter((command) => command.startsWith("sudo "))).toEqual(Object.keys(NOT_RUN_HERE))
})

describe("how do I", () => {
  test.each(tasks)(
    "$task",
    async ({ commands }) => {
      for (const command of commands) {
        if (command in NOT_RUN_HERE || (command.includes(" --via ") && NGINX === null)) continue
        const { output, exitCode } = await admin.run(runnable(command))
        expect({ command, output, exitCode }).toEqual({ command, output, exitCode: 0 })
      }
    },
    30_000,
  )
})

/** The server of a container is only asked whether it would start: with the volume in the home directory. */
function runnable(command: string): string {
  return command.startsWith("ipgate serve ")
    ? `${command.replaceAll("/data/", "/home/admin/data/")} --check`
    : command
}
