// A change of several entries that fails midway: what was done before, what went wrong, and what to do.

import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { perform, type ServerTask } from "../../cli/watch/tasks.ts"
import { openRemoteGate } from "../../src/app/remote.ts"
import { CliMachine, type CliRun } from "../support/cli.ts"
import { network } from "../support/parsed.ts"
import { type RunningServer, runServer, TOKEN } from "../support/running-server.ts"

let machine: CliMachine
let server: RunningServer
let stopFront: () => unknown

beforeEach(async () => {
  machine = new CliMachine()
  server = await runServer()
  stopFront = () => {}
})
afterEach(async () => {
  await stopFront()
  await server.stop()
  machine.remove()
})

/** What stands before the server, and answers the request of this number in its place; without an answer it goes. */
function frontThat(number: number, answer: (() => Response) | null): string {
  let requests = 0
  const front = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (++requests !== number) {
        const { pathname, search } = new URL(request.url)
        const { method, headers } = request
        const body = method === "POST" ? await request.text() : null
        return fetch(`${server.url}${pathname}${search}`, { method, headers, body })
      }
      if (answer !== null) return answer()
      front.stop(true)
      return new Response()
    },
  })
  stopFront = () => front.stop(true)
  return `127.0.0.1:${front.port}`
}

function run(command: string, through: string): Promise<CliRun> {
  return machine.run(command, { environment: { IPGATE_SERVER: through, IPGATE_TOKEN: TOKEN } })
}

async function json(command: string, through: string): Promise<unknown> {
  return JSON.parse((await run(`${command} --json`, through)).out)
}

const FULL = "the database cannot be written: the disk is full"
const ROOM = "make room: nothing needs a restart"
const full = () => new Response(`${FULL}\n  ${ROOM}\n`, { status: 500 })

describe("a target that the server refuses with a hint", () => {
  test("is told with it, and the others are tried", async () => {
    expect(await run("allow 192.0.2.1 192.0.2.2 192.0.2.3", frontThat(2, full))).toEqual({
      code: 1,
      out: "allowed 192.0.2.1 permanently\nallowed 192.0.2.3 permanently\n",
      err: `ipgate: 192.0.2.2: ${FULL}\n  ${ROOM}\n`,
    })
  })

  test("is told to programs with it", async () => {
    expect(await json("allow 192.0.2.1 192.0.2.2", frontThat(2, full))).toMatchObject({
      changed: true,
      results: [
        { ip: "192.0.2.1", result: "added" },
        { ip: "192.0.2.2", result: "error", changed: false, message: FULL, hint: ROOM },
      ],
    })
  })
})

test("a server that goes midway is told with what may have been done all the same", async () => {
  const front = frontThat(2, null)
  const { code, out, err } = await run("allow 192.0.2.1 192.0.2.2 192.0.2.3", front)
  expect([code, out]).toEqual([5, "allowed 192.0.2.1 permanently\n"])
  expect(err).toBe(
    `ipgate: 192.0.2.2: the server at ${front} has closed the connection without an answer (1 more not tried)\n` +
      "  the change may still take effect: ask with `ipgate check` before you repeat it\n",
  )
})

describe("deny of an address on both lists, of which only a part was done", () => {
  beforeEach(async () => {
    await run("allow 192.0.2.1 192.0.2.2", server.url)
    await run("allow 192.0.2.1 --ttl 8h", server.url)
  })

  const PERMANENT = "removed 192.0.2.1 from the permanent list\n"
  const TEMPORARY = "removed 192.0.2.1 from the temporary list\n"

  test.each([
    ["the other removal", 2, PERMANENT],
    ["the closing check", 3, PERMANENT + TEMPORARY],
  ])("is told up to %s, which the server refuses, and the next target is tried", async (_, number, done) => {
    expect(await run("deny 192.0.2.1 192.0.2.2", frontThat(number, full))).toEqual({
      code: 1,
      out: `${done}removed 192.0.2.2 from the permanent list\n`,
      err: `ipgate: 192.0.2.1: ${FULL}\n  ${ROOM}\n`,
    })
  })

  test.each([
    ["the other removal", 2, PERMANENT],
    ["the closing check", 3, PERMANENT + TEMPORARY],
  ])("is told up to %s, at which the server goes", async (_, number, done) => {
    const { code, out, err } = await run("deny 192.0.2.1 192.0.2.2", frontThat(number, null))
    expect([code, out]).toEqual([5, done])
    expect(err).toMatch(/^ipgate: 192\.0\.2\.1: .* \(1 more not tried\)\n/)
  })

  test("is told to programs, who learn that nobody knows what lets it in still", async () => {
    expect(await json("deny 192.0.2.1", frontThat(2, null))).toEqual({
      changed: true,
      dry_run: false,
      results: [
        {
          ip: "192.0.2.1",
          list: "perm",
          result: "removed",
          changed: true,
          action: "delete_perm",
          effective: null,
          matched_by: null,
        },
        {
          ip: "192.0.2.1",
          list: null,
          result: "error",
          changed: false,
          action: null,
          message: expect.any(String),
          hint: expect.any(String),
        },
      ],
    })
  })

  test("is an error alone if nothing was done", async () => {
    const { code, out, err } = await run("deny 192.0.2.1 192.0.2.2 --json", frontThat(1, null))
    expect([code, out, JSON.parse(err).error.code]).toEqual([5, "", "unavailable"])
  })
})

describe("a task of watch of which only a part was done", () => {
  const at = network("192.0.2.1")
  const performed = (task: ServerTask, front: string) =>
    perform(
      openRemoteGate(front, () => TOKEN),
      task,
    )

  beforeEach(async () => {
    await run("allow 192.0.2.1 --ttl 8h", server.url)
  })

  test("is told up to the removal of the temporary entry", async () => {
    expect(await performed({ kind: "make-permanent", network: at }, frontThat(2, full))).toEqual({
      kind: "failed",
      text: `allowed 192.0.2.1 permanently, but then: ${FULL}`,
    })
  })

  test("is told up to the closing check", async () => {
    expect(await performed({ kind: "remove", network: at }, frontThat(2, full))).toEqual({
      kind: "failed",
      text: `removed 192.0.2.1 from the temporary list, but then: ${FULL}`,
    })
  })
})
