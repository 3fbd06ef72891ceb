// What the executable loads before a command begins, that of its packages too: the bundle itself is looked at.

import { expect, test } from "bun:test"
import { basename } from "node:path"
import { bundle, TARGETS } from "../../scripts/build.ts"

/** Each module of the runtime is built when it is imported: up to 5 ms of the 20 that a whole command takes. */
const NEEDED = ["events", "fs", "path"]

test("a command begins with no more of the runtime's modules than it cannot do without", async () => {
  const target = TARGETS.find((name) => name === `bun-linux-${process.arch}`) ?? TARGETS[0]
  const { outputs } = await Bun.build({ ...bundle(target), target: "bun" })
  const scripts = outputs.filter(({ loader }) => loader !== "file")
  const texts = new Map(
    await Promise.all(scripts.map(async (file) => [basename(file.path), await file.text()] as const)),
  )

  const own = new Set<string>()
  const ofRuntime = new Set<string>()
  const load = (name: string) => {
    own.add(name)
    for (const { path, kind } of new Bun.Transpiler({ loader: "js" }).scanImports(texts.get(name) ?? "")) {
      if (kind !== "import-statement") continue
      if (!texts.has(basename(path))) ofRuntime.add(path.replace("node:", ""))
      else if (!own.has(basename(path))) load(basename(path))
    }
  }
  load("main.js")

  expect(own.size).toBeGreaterThan(5)
  expect([...own]).not.toContain("worker.js")
  expect([...ofRuntime].sort()).toEqual(NEEDED)
})
