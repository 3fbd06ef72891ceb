// What the executable reads for an import: all of a file, and no more of what never ends than an import can use.

import { expect, setDefaultTimeout, test } from "bun:test"
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
