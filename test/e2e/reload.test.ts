// SIGHUP on the built binary: what holds for the very next request, what stays, and that no request is lost meanwhile.

import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { rmSync } from "node:fs"
import { fault } from "../faults/fault.ts"
import { builtBinary, type ServerProcess, TOKEN, Workplace } from "../support/binary.ts"

setDefaultTimeout(60_000)

const SECOND = "a-second-token-for-tests-with-enough-characters"
const RELOADED = "reloaded the configuration"

let place: Workplace
beforeEach(async () => {
  place = await Workplace.make()
})
afterEach(() => place[Symbol.asyncDispose]())

/** Sends SIGHUP, and is fulfilled when the log has one more line with the text. */
async function reload(server: ServerProcess, text = RELOADED): Promise<string> {
  const before = server.log().length
  server.signal("SIGHUP")
  for (;;) {
    const line = server
      .log()
      .slice(before)
      .split("\n")
      .slice(0, -1)
      .find((one) => one.includes(text))
    if (line !== undefined) return line
    await Bun.sleep(5)
  }
}

const statusWith = async (server: ServerProcess, token: string) => {
  const answer = await fetch(`${server.url}/api/whitelist/perm/list`, {
    headers: { Authorization: `Bearer ${token}` },
  })
  return answer.status
}

describe("what a reload takes over", () => {
  test("tokens: a new one beside the old one, then the new one alone, for the very next request", async () => {
    const server = await place.serve()
    expect([await statusWith(server, TOKEN), await statusWith(server, SECOND)]).toEqual([200, 401])

    await place.write("api-token", `${TOKEN}\n${SECOND}\n`, 0o600)
    expect(await statusWith(server, SECOND)).toBe(401)
    expect(await reload(server)).toContain(`tokens=2 tokens_from="${place.tokenFile}"`)
    expect([await statusWith(server, TOKEN), await statusWith(server, SECOND)]).toEqual([200, 200])

    await place.write("api-token", `${SECOND}\n`, 0o600)
    await reload(server)
    expect([await statusWith(server, TOKEN), await statusWith(server, SECOND)]).toEqual([401, 200])
    expect(server.log()).not.toContain(SECOND)
    expect(server.log()).not.toContain(TOKEN)
    await server.stop()
  })

  test("trusted proxies: also on a listener on which nobody else than this machine can ask", async () => {
    const server = await place.serve()
    await server.ipgate("allow", "203.0.113.7")
    expect(await server.decision("203.0.113.7")).toBe(204)

    await place.write("ipgate.toml", '[auth]\ntrusted_proxies = ["192.0.2.10"]\n')
    await reload(server)
    expect(await server.decision("203.0.113.7")).toBe(401)

    await place.write("ipgate.toml", '[auth]\ntrusted_proxies = ["127.0.0.1"]\n')
    await reload(server)
    expect(await server.decision("203.0.113.7")).toBe(204)
    expect(server.log()).not.toContain("restart")
    await server.stop()
  })

  test("trusted proxies: one address of this machine, and not another one of it", async () => {
    const server = await place.serve()
    await server.ipgate("allow", "203.0.113.7")
    const from = async (peer: string) => {
      const { stdout } = await place.run([
        ...["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--interface", peer],
        ...["-H", "X-Real-IP: 203.0.113.7", `${server.url}/auth`],
      ])
      return stdout
    }
    expect([await from("127.0.0.1"), await from("127.0.0.2")]).toEqual(["204", "204"])
    await place.write("ipgate.toml", '[auth]\ntrusted_proxies = ["127.0.0.1"]\n')
    await reload(server)
    expect([await from("127.0.0.1"), await from("127.0.0.2")]).toEqual(["204", "401"])
    await server.stop()
  })

  test("trusted proxies: the unix socket", async () => {
    const server = await place.serve(["--listen", `unix:${place.path("gate.sock")}`])
    await server.ipgate("allow", "203.0.113.7")
    await place.write("ipgate.toml", '[auth]\ntrusted_proxies = ["127.0.0.1"]\n')
    expect(await server.decision("203.0.113.7")).toBe(204)
    await reload(server)
    expect(await server.decision("203.0.113.7")).toBe(401)
    await server.stop()
  })

  test("the header of the client: the old one counts for nothing any more", async () => {
    const server = await place.serve()
    await server.ipgate("allow", "203.0.113.7")
    const forwarded = async () => {
      const { status } = await fetch(`${server.url}/auth`, { headers: { "X-Forwarded-For": "203.0.113.7" } })
      return status
    }
    expect([await server.decision("203.0.113.7"), await forwarded()]).toEqual([204, 401])
    await place.write("ipgate.toml", '[auth]\nclient_ip_header = "X-Forwarded-For"\n')
    await reload(server)
    expect([await server.decision("203.0.113.7"), await forwarded()]).toEqual([401, 204])
    await server.stop()
  })

  test("the level of the log", async () => {
    const server = await place.serve()
    await server.ipgate("allow", "203.0.113.7")
    await server.logged('notice allowed ip="203.0.113.7" list="perm"')
    // The line of the reload itself is below the new level; that of the key which needs a restart is not.
    await place.write("ipgate.toml", '[log]\nlevel = "warn"\n\n[server]\nsocket_mode = "0600"\n')
    await reload(server, "takes effect with a restart")
    expect((await server.ipgate("deny", "203.0.113.7")).code).toBe(0)
    await server.stop()
    expect(server.log()).not.toContain(RELOADED)
    expect(server.log()).not.toContain("stopping on")
    expect(server.log()).not.toContain("notice removed")
  })

  test.each([
    ["none", "summary"],
    ["summary", "none"],
  ])("the line about refused clients, from %s to %s", async (before, after) => {
    await place.write("ipgate.toml", `[log]\nrefusals = "${before}"\n`)
    const server = await place.serve()
    await place.write("ipgate.toml", `[log]\nrefusals = "${after}"\n`)
    await reload(server)
    expect(await server.decision("203.0.113.7")).toBe(401)
    await server.stop()
    await server.logged("info stopped")
    expect(server.log().includes("info refused requests=1 ")).toBe(after === "summary")
  })

  test("a flag wins over the file, as at the start", async () => {
    const server = await place.serve(["--trusted-proxies", "127.0.0.1"])
    await server.ipgate("allow", "203.0.113.7")
    await place.write("ipgate.toml", '[auth]\ntrusted_proxies = ["192.0.2.10"]\n')
    await reload(server)
    expect(await server.decision("203.0.113.7")).toBe(204)
    await server.stop()
  })

  test("under systemd the file that the credential was copied from", async () => {
    await place.write("credentials/api-token", `${TOKEN}\n`, 0o600)
    const origin = await place.write("origin", `${TOKEN}\n`, 0o600)
    await place.write("ipgate.toml", `[auth]\ntoken_file = "${origin}"\n`)
    const server = await place.serve([], {
      env: { IPGATE_TOKEN_FILE: undefined, CREDENTIALS_DIRECTORY: place.path("credentials") },
    })
    await place.write("origin", `${SECOND}\n`, 0o600)
    expect(await reload(server)).toContain(`tokens_from="${origin}"`)
    expect([await statusWith(server, TOKEN), await statusWith(server, SECOND)]).toEqual([401, 200])
    await server.stop()
  })

  test("under systemd the start refuses, as a reload does, what the credential was copied from if it is open", async () => {
    await place.write("credentials/api-token", `${TOKEN}\n`, 0o400)
    const origin = await place.write("origin", `${TOKEN}\n`, 0o604)
    await place.write("ipgate.toml", `[auth]\ntoken_file = "${origin}"\n`)
    const env = { IPGATE_TOKEN_FILE: undefined, CREDENTIALS_DIRECTORY: place.path("credentials") }
    const serve = [builtBinary(), "serve", "--listen", "127.0.0.1:0"]
    const { code, stderr } = await place.run(serve, { env })
    expect({ code, stderr }).toEqual({
      code: 78,
      stderr: `ipgate: the token file ${origin} is open to other users: chmod 0640 ${origin}, and make a new token\n  a line holds one token of at least 32 characters: openssl rand -hex 32 makes one\n`,
    })
    // What the service cannot see, or what is not there any more, says nothing against the copy.
    rmSync(origin)
    const server = await place.serve([], { env })
    expect(await statusWith(server, TOKEN)).toBe(200)
    await server.stop()
  })

  test("under systemd --check reads what a reload would read, and the start only the copy", async () => {
    await place.write("credentials/api-token", `${TOKEN}\n`, 0o400)
    const origin = await place.write("origin", "short\n", 0o600)
    await place.write("ipgate.toml", `[auth]\ntoken_file = "${origin}"\n`)
    const env = { IPGATE_TOKEN_FILE: undefined, CREDENTIALS_DIRECTORY: place.path("credentials") }
    const { code, stderr } = await place.ipgate(["serve", "--check"], { env })
    expect(code).toBe(78)
    expect(stderr).toContain(`the token file ${origin} holds a token of fewer than 32 characters`)
    const server = await place.serve([], { env })
    expect(await statusWith(server, TOKEN)).toBe(200)
    await server.stop()
  })
})

test("at a start, and for --check, the configuration and the token may come through pipes", async () => {
  const proxies = '[auth]\ntrusted_proxies = ["192.0.2.10"]'
  const through = `exec "$0" "$@" --config <(echo '${proxies}') --token-file <(echo ${TOKEN})`
  const options = {
    prefix: ["bash", "-c", through],
    env: { IPGATE_TOKEN_FILE: undefined, IPGATE_CONFIG: undefined },
  }
  expect(await place.ipgate(["serve", "--check"], options)).toEqual({
    code: 0,
    stdout: "the configuration is valid\n",
    stderr: "",
  })
  const server = await place.serve([], options)
  expect(await statusWith(server, TOKEN)).toBe(200)
  await server.ipgate("allow", "203.0.113.7")
  expect(await server.decision("203.0.113.7")).toBe(401)
  await server.stop()
})

describe(
  fault("P-10", "SIGHUP with every kind of bad file", "all of the old stays, and the next good one works"),
  () => {
    test.each<readonly [string, string, string | null, number, string | RegExp]>([
      ["broken TOML", "[auth\n", null, 0o600, "ipgate.toml:1: column "],
      [
        "an unknown key",
        '[auth]\ntrusted_proxy = ["unix"]\n',
        null,
        0o600,
        "did you mean auth.trusted_proxies?",
      ],
      ["a proxy that is no network", '[auth]\ntrusted_proxies = ["10.0.0.5/8"]\n', null, 0o600, "host bits"],
      [
        "two mistakes, in one line",
        '[log]\nlevel = "loud"\nrefusals = "often"\n',
        null,
        0o600,
        /log\.level is "loud".*; \S+ipgate\.toml:3: log\.refusals is "often"/,
      ],
      ["a level that is none", '[log]\nlevel = "loud"\n', null, 0o600, "log.level is"],
      ["a short token", "", `${SECOND}\nshort\n`, 0o600, "fewer than 32 characters"],
      ["an empty token file", "", "", 0o600, "is empty"],
      ["a token file that is open to others", "", `${SECOND}\n`, 0o644, "is open to other users"],
      // One half is right and the other one wrong: neither is taken over.
      [
        "good proxies and a bad token",
        '[auth]\ntrusted_proxies = ["192.0.2.1"]\n',
        "x",
        0o600,
        "fewer than 32",
      ],
    ])("%s", async (_, config, token, mode, problem) => {
      const server = await place.serve()
      await server.ipgate("allow", "203.0.113.7")
      await place.write("ipgate.toml", config)
      if (token !== null) await place.write("api-token", token, mode)
      const line = await reload(server, "the reload failed, and the old configuration stays in force: ")
      expect(line).toContain(" error ")
      expect(line).toMatch(problem)
      expect(await server.decision("203.0.113.7")).toBe(204)
      expect([await statusWith(server, TOKEN), await statusWith(server, SECOND)]).toEqual([200, 401])

      // And when it is put right, the next one works.
      await place.write("ipgate.toml", "")
      await place.write("api-token", `${SECOND}\n`, 0o600)
      await reload(server)
      expect([await statusWith(server, TOKEN), await statusWith(server, SECOND)]).toEqual([401, 200])
      expect(await server.stop()).toBe(0)
    })

    test("what needs a restart is named, and nothing of it is done", async () => {
      const server = await place.serve()
      await place.write(
        "ipgate.toml",
        '[server]\nsocket_mode = "0600"\nidle_timeout = "60s"\n\n[log]\nformat = "json"\n',
      )
      const line = await reload(server, "takes effect with a restart")
      expect(line).toContain(" warn server.socket_mode, server.idle_timeout: changed")
      expect(await server.decision("203.0.113.7")).toBe(401)
      await server.stop()
    })

    test.each(["api-token", "ipgate.toml"])("%s is a pipe: nobody waits for its writer", async (name) => {
      const server = await place.serve()
      await server.ipgate("allow", "203.0.113.7")
      await place.write("ipgate.toml", "")
      rmSync(place.path(name))
      expect((await place.run(["mkfifo", "-m", "600", place.path(name)])).code).toBe(0)
      const line = await reload(server, "the reload failed, and the old configuration stays in force: ")
      expect(line).toContain(`${place.path(name)} is a pipe: a reload needs a file`)
      expect(await server.decision("203.0.113.7")).toBe(204)
      expect(await statusWith(server, TOKEN)).toBe(200)
      await server.stop()
    })
  },
)

test("the metrics tell how the last reload went", async () => {
  const metrics = place.path("metrics.sock")
  const server = await place.serve(["--metrics-listen", `unix:${metrics}`])
  const successful = async () => {
    const text = await (await fetch("http://localhost/metrics", { unix: metrics })).text()
    const value = (name: string) =>
      Number(new RegExp(`^ipgate_config_last_reload_${name} (.*)$`, "m").exec(text)?.[1])
    return { ok: value("successful"), at: value("success_timestamp_seconds") }
  }
  const { at: start } = await successful()
  expect((await successful()).ok).toBe(1)
  await place.write("ipgate.toml", "nonsense")
  await reload(server, "the reload failed")
  expect(await successful()).toEqual({ ok: 0, at: start })
  await place.write("ipgate.toml", "")
  await reload(server)
  const { ok, at } = await successful()
  expect(ok).toBe(1)
  expect(at).toBeGreaterThan(start)
  await server.stop()
})

test("under load no request is lost, and each answer is that of the old or of the new configuration", async () => {
  const server = await place.serve()
  await server.ipgate("allow", "203.0.113.7")
  const configs = ['[auth]\ntrusted_proxies = ["192.0.2.10"]\n', ""]
  let over = false
  const counts = new Map<number, number>()
  const clients = Array.from({ length: 8 }, async () => {
    while (!over) {
      const status = await server.decision("203.0.113.7")
      counts.set(status, (counts.get(status) ?? 0) + 1)
    }
  })
  for (let i = 0; i < 40; i++) {
    await place.write("ipgate.toml", configs[i % 2] ?? "")
    await reload(server)
    expect(await server.decision("203.0.113.7")).toBe(i % 2 === 0 ? 401 : 204)
  }
  over = true
  // A lost connection would have rejected here.
  await Promise.all(clients)
  expect([...counts.keys()].toSorted()).toEqual([204, 401])
  expect(await server.stop()).toBe(0)
})
