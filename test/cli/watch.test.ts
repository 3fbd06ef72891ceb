// `ipgate watch` as a command: what it does where there is no screen to show, and when it is refused.

import { describe, expect, test } from "bun:test"
import { CliMachine, type CliSettings, throughBothGatesOnce, World } from "../support/cli.ts"

const noTerminal: CliSettings = { openTerminal: () => null }

/** A terminal that nobody may take. */
const terminal: CliSettings = {
  openTerminal: () => {
    throw new Error("the terminal was taken")
  },
}

describe("without a terminal", () => {
  const hour = async (world: World) => {
    await world.do("allow 10.0.0.0/8")
    await world.do(["allow", "203.0.113.7", "--ttl", "1h", "--reason", "on call"])
    await world.do("allow 192.0.2.1 --ttl 30m")
  }

  test("it prints the temporary list once, as `list --temp` does", async () => {
    const world = await World.open("on-line", { prepare: hour })
    const watched = await world.run("watch", noTerminal)
    expect(watched).toEqual(await world.run("list --temp"))
    expect(watched.code).toBe(0)
    expect(watched.out.split("\n").map((line) => line.split(/ {2,}/)[1])).toEqual([
      "IP",
      "192.0.2.1",
      "203.0.113.7",
      undefined,
    ])
    // A process for which nobody has thought of terminals is one without.
    expect(await world.run("watch")).toEqual(watched)
    await world.close()
  })

  test("or with --json or --quiet, in a terminal too", async () => {
    const world = await World.open("on-line", { prepare: hour })
    expect(await world.json("watch", terminal)).toEqual(await world.json("list --temp"))
    expect(await world.run("watch --quiet", terminal)).toEqual({ code: 0, out: "", err: "" })
    await world.close()
  })

  test("it says what other commands say when there is no server, or no token", async () => {
    const machine = new CliMachine()
    const token = machine.file("token", "a-token-for-tests-of-48-characters-0123456789ab!\n")
    const command = ["watch", "--server", "127.0.0.1:1", "--token-file"]
    expect(await machine.run([...command, token], noTerminal)).toMatchObject({ code: 5, out: "" })
    expect(await machine.run([...command, machine.path("absent")], noTerminal)).toMatchObject({
      code: 4,
      out: "",
    })
    machine.remove()
  })
})

throughBothGatesOnce((world) => {
  test("--offline is refused: an open screen would keep a server from its database", async () => {
    const { code, out, err } = await world().run("watch --offline", terminal)
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toBe(
      "ipgate: watch shows a running server: an open screen would keep the server from its database\n" +
        "  leave out --offline, or use `ipgate list --offline`\n",
    )
  })
})

describe("in a terminal", () => {
  test.each([
    ["no server", [], 5, "no ipgate server answers at 127.0.0.1:1"],
    ["no token", ["--token-file", "/nowhere/token"], 4, "/nowhere/token"],
  ] as const)("%s is told before the screen is taken", async (_, args, code, message) => {
    const machine = new CliMachine({
      environment: { IPGATE_TOKEN: "a-token-for-tests-of-48-characters-0123456789ab!" },
    })
    const stdout = {
      write: () => {
        throw new Error("something was written to the terminal")
      },
    }
    const run = await machine.run(["watch", "--server", "127.0.0.1:1", ...args], {
      openTerminal: () => ({ stdin: {}, stdout, untilCrash: () => {} }) as never,
    })
    expect(run).toMatchObject({ code, out: "" })
    expect(run.err).toContain(message)
    machine.remove()
  })

  test("arguments and options that it does not have are usage errors", async () => {
    const machine = new CliMachine()
    for (const argument of ["now", "--interval", "-f"]) {
      expect(await machine.run(["watch", argument], terminal)).toMatchObject({ code: 2, out: "" })
    }
    machine.remove()
  })
})
