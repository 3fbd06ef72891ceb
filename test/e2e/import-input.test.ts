// The executable and an import: what it reads of a file or of what never ends, and what it says when it is stopped.

import { expect, setDefaultTimeout, test } from "bun:test"
import { type AddressInfo, createServer } from "node:net"
import { Workplace } from "../support/binary.ts"

setDefaultTimeout(60_000)

test("a device that never ends is refused, and its memory is bounded", async () => {
  await using place = await Workplace.make()
  expect(await place.ipgate(["--offline", "import", "/dev/zero", "--format", "values"])).toMatchObject({
    code: 2,
    stderr:
      "ipgate: /dev/zero is larger than 256 MiB, and nothing was changed\n  split it into several files\n",
  })
})

test("a file, a pipe and standard input are read to their ends", async () => {
  await using place = await Workplace.make()
  const file = await place.write("office.txt", "192.0.2.1\n".repeat(300_000))
  const command = `"${place.copyBinary().binary}" --offline import --format values`
  for (const input of [
    `${command} ${file}`,
    `${command} - < ${file}`,
    `${command} /dev/stdin < ${file}`,
    `cat ${file} | ${command} -`,
    `cat ${file} | ${command} /dev/stdin`,
  ]) {
    const { code, stdout } = await place.run(["sh", "-c", input])
    expect([code, stdout]).toEqual([0, expect.stringContaining(", 299999 duplicates in the file\n")])
  }
})

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)(
  "an import that %s stops while the server has not answered says what that means",
  async (signal, code) => {
    await using place = await Workplace.make()
    const asked = Promise.withResolvers<void>()
    const server = createServer((socket) => socket.once("data", () => asked.resolve()).on("error", () => {}))
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    const { port } = server.address() as AddressInfo
    const file = await place.write("office.txt", "192.0.2.1\n")
    const client = Bun.spawn(
      [place.copyBinary().binary, "-s", `127.0.0.1:${port}`, "--token-file", place.tokenFile, "import", file],
      { env: place.env, stdout: "pipe", stderr: "pipe" },
    )
    await asked.promise
    client.kill(signal)
    expect(await client.exited).toBe(code)
    expect(client.signalCode).toBe(signal)
    expect(await new Response(client.stdout).text()).toBe("")
    expect(await new Response(client.stderr).text()).toBe(
      `ipgate: stopped by ${signal} before the server has answered\n` +
        "  the change may still take effect: ask with `ipgate check` before you repeat it\n",
    )
    server.close()
  },
)
