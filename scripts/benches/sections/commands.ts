// Client commands as whole processes, in turns with the least that a program compiled by Bun can do. On all cores: the
// runtime starts threads, and whoever types a command has the whole machine. Only their server stays on its core.

import { join } from "node:path"
import { builtBinary } from "../../../test/support/binary.ts"
import type { Lab } from "../lab.ts"
import type { Report } from "../report.ts"
import { median, ratioOf, type Sample, samplesByFigure } from "../statistics.ts"

const MOST = 4

export async function measureCommands(lab: Lab, report: Report): Promise<void> {
  report.section("client commands")
  const hello = await buildHello(lab)
  const server = await lab.serve("commands.db")
  const env = lab.environment(server.url)
  const ipgate = builtBinary()
  const contenders: Record<"hello" | "allow" | "status", (i: number) => readonly string[]> = {
    hello: () => [hello],
    allow: (i) => [ipgate, "allow", `192.0.2.${i}`],
    status: () => [ipgate, "status"],
  }
  const samples: Record<keyof typeof contenders, Sample[]> = { hello: [], allow: [], status: [] }
  lab.cores.moveEverywhere()
  for (let i = 0; i < lab.plan.commandRuns; i++) {
    for (const name of Object.keys(contenders) as Array<keyof typeof contenders>) {
      samples[name].push(run(contenders[name](i), env))
    }
  }
  lab.cores.moveHere()
  report.keepRounds("commands", samplesByFigure(samples))
  const { perm_whitelist_count } = (await (await fetch(`${server.url}/status`)).json()) as Record<
    string,
    unknown
  >
  if (perm_whitelist_count !== lab.plan.commandRuns) {
    report.wrongAnswer(
      `${lab.plan.commandRuns} addresses were allowed, and ${perm_whitelist_count} are listed`,
    )
  }
  await server.stop()

  report.table(
    "Client commands as whole processes, medians",
    ["command", "milliseconds", "CPU, milliseconds"],
    Object.entries(samples).map(([name, runs]) => [
      name === "hello" ? "hello-world compiled by Bun" : `ipgate ${name}`,
      1000 / median(runs.map(({ perSecond }) => perSecond)),
      median(runs.map(({ cpuMicros }) => cpuMicros)) / 1000,
    ]),
  )
  for (const name of ["allow", "status"] as const) {
    const { value, requests, cpu, by } = ratioOf(samples.hello, samples[name])
    report.target({
      what: `ipgate ${name} as a whole process, of hello-world`,
      value,
      unit: "",
      must: "at most",
      target: MOST,
      detail: `by ${by === "CPU time" ? by : "the clock"}; by the clock ${requests.toFixed(2)}, by CPU time ${cpu.toFixed(2)}`,
    })
  }
}

function run(command: readonly string[], env: Record<string, string>): Sample {
  const startedAt = performance.now()
  const { exitCode, stderr, resourceUsage } = Bun.spawnSync([...command], {
    env,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  })
  const seconds = (performance.now() - startedAt) / 1000
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}: ${stderr}`)
  return { perSecond: 1 / seconds, cpuMicros: Number(resourceUsage.cpuTime.total) }
}

/** With the flags of scripts/build.ts. */
async function buildHello(lab: Lab): Promise<string> {
  const outfile = lab.path("hello")
  const { success, logs } = await Bun.build({
    entrypoints: [join(import.meta.dir, "../contenders/hello.ts")],
    format: "esm",
    minify: true,
    bytecode: true,
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  })
  if (!success) throw new Error(`hello-world does not compile: ${logs.join("\n")}`)
  return outfile
}
