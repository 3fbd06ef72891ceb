// Every command in the consoles of the pages, run in order in one shell: the output is the one that is printed there.
// UPDATE_GOLDEN=1 writes what came into the pages, if anything in one differs.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { NGINX, replaced } from "../support/nginx.ts"
import { Console, CURL } from "./console.ts"
import { blocksOf } from "./markdown.ts"
import { PAGES, readPage } from "./pages.ts"
import { steady } from "./steady.ts"

const ROOT = join(import.meta.dir, "../..")
const UPDATE = process.env.UPDATE_GOLDEN === "1"

/** Two sites that the pages speak of: one as it should be, and one that believes what a client writes. */
const SOUND_SITE = "http://127.0.0.1/"
const OPEN_SITE = "http://127.0.0.1:8080/"

/** A command with the output that its page shows; `^C` ends the server. `from` and `to` are lines of the page. */
type Step = {
  readonly page: string
  readonly command: string
  readonly from: number
  readonly to: number
  readonly shown: string
}

const steps = PAGES.flatMap((page) =>
  blocksOf(readPage(page))
    .filter(({ language }) => language === "console")
    .flatMap(({ start, lines }) => stepsOf(page, start, lines)),
)

let admin: Console
const outputs = new Map<Step, string>()
const differing = new Set<string>()

beforeAll(() => {
  admin = new Console()
})

afterAll(async () => {
  await admin.close()
  for (const page of differing) writeFileSync(join(ROOT, page), updated(page))
})

test("the pages have consoles, and the first command in them starts the server", () => {
  expect(steps.length).toBeGreaterThan(80)
  expect(steps[0]?.command).toBe("ipgate serve")
})

describe.skipIf(CURL === null)("the consoles of the pages", () => {
  for (const [at, step] of steps.entries()) {
    test.skipIf(NGINX === null && isBehindNginx(at))(
      `${step.page}, line ${step.from}: ${step.command}`,
      async () => {
        const { output, exitCode } = await perform(step)
        outputs.set(step, output)
        if (UPDATE) {
          if (steady(output) !== steady(step.shown)) differing.add(step.page)
        } else expect(steady(output)).toBe(steady(step.shown))
        // A command may fail only where the reader sees it fail.
        if (steps[at + 1]?.command !== "echo $?") expect(exitCode).toBe(0)
      },
      30_000,
    )
  }
})

async function perform({ command }: Step): Promise<{ output: string; exitCode: number }> {
  if (command === "^C") return admin.endServer("SIGINT")
  if (command !== "ipgate serve") return admin.run(command)
  const output = await admin.serve(command)
  if (NGINX !== null) {
    await admin.publish(SOUND_SITE)
    await admin.publish(OPEN_SITE, (text) =>
      replaced(text, "X-Real-IP $remote_addr;", "X-Real-IP $http_x_real_ip;"),
    )
  }
  return { output, exitCode: 0 }
}

/** The step asks through nginx, or asks for the exit code of one that does. */
function isBehindNginx(at: number): boolean {
  return [steps[at], steps[at - 1]].some((step) => step?.command.includes(" --via ") === true)
}

/** `$ ` begins a command, `> ` continues it, and what follows is its output. */
function stepsOf(page: string, start: number, lines: readonly string[]): Step[] {
  const found: Array<{ command: string; from: number; to: number; shown: string[] }> = []
  for (const [i, line] of lines.entries()) {
    const last = found.at(-1)
    const at = start + i + 1
    if (line.startsWith("$ ") || line === "^C") {
      found.push({ command: line.replace(/^\$ /, ""), from: at, to: at, shown: [] })
    } else if (last === undefined) {
      throw new Error(`${page}, line ${at}: output without a command`)
    } else if (line.startsWith("> ") && last.shown.length === 0) {
      last.command += `\n${line.slice(2)}`
      last.from = at
      last.to = at
    } else {
      last.shown.push(line)
      last.to = at
    }
  }
  return found.map((step) => ({ ...step, page, shown: step.shown.join("\n") }))
}

/** The page with what came in the place of what it showed. */
function updated(page: string): string {
  const lines = readPage(page).split("\n")
  for (const [{ from, to }, output] of [...outputs].filter(([step]) => step.page === page).toReversed()) {
    lines.splice(from, to - from, ...(output === "" ? [] : output.split("\n")))
  }
  return lines.join("\n")
}
