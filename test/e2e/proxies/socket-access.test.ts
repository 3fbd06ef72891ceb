// Who may ask over a unix socket: its mode and its group, from the flag, the environment and the file.

import { describe, expect, test } from "bun:test"
import { statSync } from "node:fs"
import { Workplace } from "../../support/binary.ts"

const OWN_GROUP = process.getgid?.() ?? 0
/** A group that these tests may give a file to: root may give it to any, others to their own. */
const GROUP = OWN_GROUP === 0 ? 65534 : OWN_GROUP

describe("a unix socket", () => {
  test.each([
    ["as it is", [], {}, 0o660, OWN_GROUP],
    ["of a mode", ["--socket-mode", "0600"], {}, 0o600, OWN_GROUP],
    ["of a mode and a group", ["--socket-mode", "640", "--socket-group", String(GROUP)], {}, 0o640, GROUP],
    [
      "of the environment",
      [],
      { IPGATE_SOCKET_MODE: "0620", IPGATE_SOCKET_GROUP: String(GROUP) },
      0o620,
      GROUP,
    ],
  ] as const)("%s", async (_, args, env, mode, group) => {
    await using place = await Workplace.make()
    const path = place.path("gate.sock")
    await place.serve(["--listen", `unix:${path}`, ...args], { env })
    const stats = statSync(path)
    expect([(stats.mode & 0o7777).toString(8), stats.gid]).toEqual([mode.toString(8), group])
  })

  test("of the file, with the group by its name", async () => {
    await using place = await Workplace.make()
    const path = place.path("gate.sock")
    const name = (await place.run(["getent", "group", String(GROUP)])).stdout.split(":")[0] ?? ""
    await place.write(
      "ipgate.toml",
      `[server]\nlisten = ["unix:${path}"]\nsocket_mode = "0600"\nsocket_group = "${name}"\n`,
    )
    await place.serve(["--listen", `unix:${path}`])
    const stats = statSync(path)
    expect([stats.mode & 0o777, stats.gid]).toEqual([0o600, GROUP])
  })

  test.each(["0666", "0661", "rw", "88", "", "0o660"])(
    "does not start with mode %j, and says where",
    async (mode) => {
      await using place = await Workplace.make()
      await place.write("ipgate.toml", `[server]\nsocket_mode = "${mode}"\n`)
      const { code, stderr } = await place.ipgate(["serve", "--check"])
      expect(code).toBe(78)
      expect(stderr).toContain(`${place.path("ipgate.toml")}:2: socket_mode is`)
    },
  )

  test("of a group that is not there: it does not start, and --check says so before", async () => {
    await using place = await Workplace.make()
    const listed = (await place.run(["getent", "group", String(GROUP)])).stdout.split(":")[0] ?? ""
    for (const group of ["no-such", listed.slice(0, -1)]) {
      const named = ["--listen", `unix:${place.path("gate.sock")}`, "--socket-group", group]
      for (const check of [[], ["--check"]]) {
        const { code, stderr } = await place.ipgate(["serve", ...named, ...check])
        expect(code).toBe(78)
        expect(stderr).toContain(`command line: socket_group is "${group}": there is no such group`)
      }
    }
  })

  test("a group that is not there does no harm where there is no socket", async () => {
    await using place = await Workplace.make()
    const { code } = await place.ipgate(["serve", "--check", "--socket-group", "no-such"])
    expect(code).toBe(0)
  })
})
