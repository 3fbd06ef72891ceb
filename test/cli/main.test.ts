// The edge of the process: real arguments, a real environment, real pipes, a real exit code.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { statSync } from "node:fs"
import { join } from "node:path"
import { fault } from "../faults/fault.ts"
import { CliMachine } from "../support/cli.ts"
import { type RunningServer, runServer, TOKEN } from "../support/running-server.ts"

const MAIN = join(import.meta.dir, "../../cli/main.ts")
const machine = new CliMachine()
const database = machine.path("ipgate.db")

afterAll(() => machine.remove())

type Settings = { readonly input?: string; readonly environment?: Readonly<Record<string, string>> }

/** Nothing of the environment of the tests gets in, so that neither a proxy nor a token of this machine counts. */
function start(command: readonly string[], { input = "", environment = {} }: Settings = {}) {
  return Bun.spawn([...command], {
    cwd: machine.home,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: machine.home,
      BUN: process.execPath,
      MAIN,
      DATABASE: database,
      ...environment,
    },
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
  })
}

async function finished(process: ReturnType<typeof start>) {
  const [out, err, code] = await Promise.all([process.stdout.text(), process.stderr.text(), process.exited])
  return { code, out, err }
}

const ipgate = (command: string, settings?: Settings) =>
  finished(start([process.execPath, MAIN, ...command.split(" ")], settings))

/** A pipeline, in which `ipgate` is the program. */
const shell = (script: string) =>
  finished(start(["bash", "-c", `ipgate() { "$BUN" "$MAIN" "$@" --offline --db "$DATABASE"; }; ${script}`]))

test("a log that is followed ends when nobody reads it any more", async () => {
  const server = await runServer()
  const process = start(
    [
      ...[Bun.which("bash") ?? "bash", "-c"],
      `"$BUN" "$MAIN" logs -f --server ${server.url.slice("http://".length)} | head -n 1; echo "\${PIPESTATUS[0]}"`,
    ],
    { environment: { IPGATE_TOKEN: TOKEN } },
  )
  const ended = finished(process)
  let isEnded = false
  void ended.then(() => {
    isEnded = true
  })
  for (let i = 0; !isEnded; i++) {
    await server.addPermanent(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
    await Bun.sleep(20)
  }
  const { out, err } = await ended
  expect(out.split("\n").slice(1)).toEqual(["0", ""])
  expect(err).toBe("")
  await server.stop()
})

describe("a run", () => {
  test("gives its output to stdout and 0 to the shell", async () => {
    const { code, out, err } = await ipgate("--version")
    expect({ code, err }).toEqual({ code: 0, err: "" })
    expect(out).toStartWith("ipgate ")
  })

  test("gives its error to stderr and its exit code to the shell", async () => {
    expect(await ipgate("allow nonsense")).toEqual({
      code: 2,
      out: "",
      err: 'ipgate: "nonsense" is not an IP address or CIDR\n',
    })
  })

  test("looks for the socket of the service in the file system", async () => {
    const socket = "/run/ipgate/ipgate.sock"
    const isThere = statSync(socket, { throwIfNoEntry: false })?.isSocket() === true
    const { out } = await ipgate("config show --json")
    const shown = JSON.parse(out) as Array<{ key: string; value: unknown }>
    const { value } = shown.find(({ key }) => key === "client.server") ?? {}
    expect(value).toBe(isThere ? `unix:${socket}` : "127.0.0.1:8765")
  })

  test("reads standard input", async () => {
    const database = machine.path("standard-input.db")
    await ipgate(`list --offline --db ${database}`)
    expect(await ipgate(`allow - --offline --db ${database}`, { input: "203.0.113.7\n" })).toEqual({
      code: 0,
      out: "allowed 203.0.113.7 permanently\n",
      err: "",
    })
    expect(
      await ipgate(`import - --format values --offline --db ${database}`, { input: "203.0.113.8\n" }),
    ).toMatchObject({ code: 0, err: "" })
    expect((await ipgate(`list --offline --db ${database}`)).out).toContain("203.0.113.8")
  })

  test.each(["/proc/no/such", "/proc"])(
    "says of %s, which is no file to read, that it is none",
    async (path) => {
      expect(await ipgate(`import ${path} --format values --offline --db ${database}`)).toEqual({
        code: 2,
        out: "",
        err: `ipgate: ${path} does not exist or cannot be read\n`,
      })
    },
  )
})

describe(
  fault("L-06 L-07", "outputs of megabytes to a reader that is late, or closes", "whole, or quiet"),
  () => {
    const COUNT = 5_000

    beforeAll(async () => {
      const file = machine.file(
        "many.txt",
        Array.from({ length: COUNT }, (_, i) => `10.1.${i >> 8}.${i & 255}\n`).join(""),
      )
      const { code, err } = await ipgate(`import ${file} --quiet --offline --db ${database}`)
      expect({ code, err }).toEqual({ code: 0, err: "" })
    })

    // A pipe holds 64 KiB, and these outputs are several times as long: the reader comes when the writer waits already.
    test.each(["list --json", "export", "logs -n 5000"])(
      "%s gets through to the last line, however late it is read",
      async (command) => {
        const { out } = await shell(`ipgate ${command} | { sleep 0.3; cat; }; echo "exit \${PIPESTATUS[0]}"`)
        expect(out).toEndWith("exit 0\n")
        const text = out.slice(0, -"exit 0\n".length)
        if (command.endsWith("--json")) expect(JSON.parse(text)).toHaveLength(COUNT)
        else expect(text.split("\n").length).toBeGreaterThan(COUNT)
      },
    )

    test.each(["", " --json"])("of an error get through to the last line too:%s", async (option) => {
      const file = machine.file(
        "bad.txt",
        Array.from({ length: COUNT }, (_, i) => `no-address-${i}\n`).join(""),
      )
      const { out } = await shell(
        `ipgate import ${file}${option} 2>&1 | { sleep 0.3; cat; }; echo "exit \${PIPESTATUS[0]}"`,
      )
      expect(out).toEndWith("\nexit 2\n")
      const text = out.slice(0, -"exit 2\n".length)
      const told = option === "" ? text : JSON.parse(text).error.message
      expect(told).toContain(`${COUNT} bad lines`)
      expect(told).toContain(`no-address-${COUNT - 1}`)
    })

    test("of an error that is closed early leaves the exit code as it is", async () => {
      const file = machine.file("bad.txt", "no-address\n".repeat(COUNT))
      expect(await shell(`ipgate import ${file} 2>&1 | head -c 6; exit "\${PIPESTATUS[0]}"`)).toEqual({
        code: 2,
        out: "ipgate",
        err: "",
      })
    })

    test("that is closed early ends the run, and makes no noise", async () => {
      expect(await shell("ipgate list --json | head -c 1")).toEqual({ code: 0, out: "[", err: "" })
    })

    test.each(["list --json", "--help"])(
      "of a full disk is an error, and never half an answer: %s",
      async (command) => {
        const { code, out, err } = await shell(`ipgate ${command} > /dev/full`)
        expect([code, out]).toEqual([1, ""])
        expect(err).toMatch(/^ipgate: the output could not be written: ENOSPC/)
      },
    )

    test("of a full disk takes the place of no other exit code", async () => {
      const { code, err } = await shell("ipgate allow 10.1.0.0 --error-unchanged > /dev/full")
      expect(code).toBe(3)
      expect(err).toMatch(/^ipgate: the output could not be written: ENOSPC/)
    })
  },
)

describe("a proxy for the web", () => {
  let server: RunningServer
  let proxy: Bun.Server<undefined>
  const seen: string[] = []

  beforeAll(async () => {
    server = await runServer()
    proxy = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request) => {
        seen.push(`${request.url} ${request.headers.get("Authorization")}`)
        return new Response("a page of the proxy", { status: 502 })
      },
    })
  })

  afterAll(async () => {
    await proxy.stop(true)
    await server.stop()
  })

  test.each(["http_proxy", "HTTP_PROXY", "all_proxy"])(
    "in %s gets neither the question nor the token",
    async (name) => {
      seen.length = 0
      const environment = {
        [name]: `http://127.0.0.1:${proxy.port}`,
        IPGATE_SERVER: server.url,
        IPGATE_TOKEN: TOKEN,
      }
      const { code, err } = await ipgate("list", { environment })
      expect({ code, err, seen }).toEqual({ code: 0, err: "", seen: [] })
    },
  )
})
