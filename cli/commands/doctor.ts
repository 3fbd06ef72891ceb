// ipgate doctor: is the installation sound, and is the chain from a visitor through the proxy to ipgate?

import { Command } from "commander"
import { GateError } from "../../src/core/errors.ts"
import { quoted } from "../../src/core/printable.ts"
import type { CommandEnv } from "../command-env.ts"
import type { Finding } from "../doctor/finding.ts"
import { EXIT, UsageError } from "../exit.ts"

export function doctorCommand(env: CommandEnv): Command {
  return new Command("doctor")
    .summary("find what is wrong, and the line to change")
    .description(
      "Check this installation, or with --via the whole way of a visitor through your proxy. Exits with 1 if something is wrong. " +
        "With --via it puts marked temporary entries on the list and removes them: a documentation address, and for a moment the one of this machine.",
    )
    .option("--via <url>", "a page behind the proxy, as a visitor calls it")
    .addHelpText(
      "before",
      `Examples:
  ipgate doctor
  ipgate doctor --json
  ipgate doctor --via https://example.org/
`,
    )
    .action(async ({ via }: { via?: string }) => {
      if (via === undefined) {
        const { examineInstallation } = await import("../doctor/installation.ts")
        const { findings, checked, unreachable } = await examineInstallation(env)
        if (env.out.isJson) env.out.json({ changed: false, via: null, findings, checked })
        report(env, findings, `nothing is wrong: ${checked.join(", ")}`)
        if (unreachable) env.exitWith(EXIT.unreachable)
        return
      }
      if (env.options.offline) throw new UsageError("--via needs the running server: leave out --offline")
      const url = urlOf(via)
      // Sockets, TLS and DNS: no other command needs them.
      const { examineVia } = await import("../doctor/via.ts")
      const { findings, remarks, tested, requests } = await untilInterrupted(env, (signal) =>
        env.withGate((gate) =>
          examineVia({
            gate,
            url,
            header: env.config().clientIpHeader,
            warn: (text) => env.out.warn(text),
            signal,
          }),
        ),
      )
      if (env.out.isJson) env.out.json({ changed: false, via, tested, requests, findings, remarks })
      for (const remark of remarks) env.out.warn(remark)
      report(env, findings, `nothing is wrong: ${requests} requests over ${tested.join(" and ")}`)
    })
}

function urlOf(text: string): URL {
  try {
    const url = new URL(text)
    if (url.protocol === "http:" || url.protocol === "https:") return url
  } catch {
    // Said below.
  }
  throw new UsageError(`${quoted(text)} is no URL`, "give one such as https://example.org/")
}

/** The first signal aborts, so that what was put on the list is taken off again; the second one ends the process. */
async function untilInterrupted<T>(
  { process }: CommandEnv,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController()
  process.untilSignal((name) => {
    if (stop.signal.aborted) process.exitNow(EXIT.failed)
    stop.abort(
      new GateError("failed", `stopped by ${name}: nothing was proven, and the test entries are removed`),
    )
  })
  return await run(stop.signal)
}

function report({ out, exitWith }: CommandEnv, findings: readonly Finding[], good: string): void {
  if (findings.length === 0) {
    out.line(good)
    return
  }
  for (const { code, over, message, change } of findings) {
    out.line(`${code}${over.length === 0 ? "" : ` (${over.join(", ")})`}: ${message}`)
    for (const line of change) out.line(`  change  ${line}`)
  }
  exitWith(EXIT.failed)
}
