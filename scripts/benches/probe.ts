// A prober and a changer, as the sections of the bench use them.

import { join } from "node:path"
import type { ServerProcess } from "../../test/support/binary.ts"
import { TOKEN } from "../../test/support/binary.ts"
import type { ChangerOptions, Changes } from "./changer.ts"
import type { Child, Lab } from "./lab.ts"
import { Lines } from "./lines.ts"
import type { Expectation, ProberOptions, Window } from "./prober.ts"
import type { Report } from "./report.ts"

export type Asked = { readonly expectation: Expectation; readonly client: string }

const PER_SECOND = 2_000
const CONNECTIONS = 64
/** Milliseconds. */
const PATIENCE = 3_000

export class Probe {
  private constructor(
    private readonly child: Child,
    private readonly lines: Lines,
    private readonly report: Report,
  ) {}

  /** Asks for these clients in turns until `stop`. Resolves when it has begun. */
  static async start(lab: Lab, report: Report, url: string, asked: readonly Asked[]): Promise<Probe> {
    const clients = await lab.write(
      `clients-${crypto.randomUUID()}.txt`,
      asked.map(({ expectation, client }) => `${expectation} ${client}\n`).join(""),
    )
    const { hostname, port } = new URL(url)
    const options: ProberOptions = {
      hostname,
      port: Number(port),
      perSecond: PER_SECOND,
      connections: CONNECTIONS,
      clients,
      patience: PATIENCE,
    }
    const child = lab.start([
      ...lab.cores.prober,
      ...[process.execPath, join(import.meta.dir, "prober.ts"), JSON.stringify(options)],
    ])
    const lines = new Lines(child, "the prober")
    await lines.next()
    return new Probe(child, lines, report)
  }

  begin(): void {
    this.tell("begin")
  }

  async end(during: string): Promise<Window> {
    this.tell("end")
    return this.judged(during)
  }

  async stop(during: string): Promise<Window> {
    this.tell("stop")
    const window = await this.judged(during)
    await this.child.exited
    return window
  }

  /** The window of some time in which nothing happens, or in which `happening` does. */
  async during(what: string, happening: () => Promise<unknown>): Promise<Window> {
    this.begin()
    await happening()
    return this.end(what)
  }

  private tell(line: string): void {
    this.child.stdin.write(`${line}\n`)
    this.child.stdin.flush()
  }

  private async judged(during: string): Promise<Window> {
    const window = JSON.parse(await this.lines.next()) as Window
    if (window.wrong > 0) {
      this.report.wrongAnswer(`${during}: ${window.wrong} wrong decisions, the first: ${window.firstWrong}`)
    }
    if (window.unanswered > 0 || window.broken > 0) {
      this.report.wrongAnswer(
        `${during}: ${window.unanswered} requests without an answer, ${window.broken} connections broken`,
      )
    }
    return window
  }
}

/** Changes the list until the result is called. Resolves when it has begun. */
export async function startChanges(
  lab: Lab,
  report: Report,
  server: ServerProcess,
  load: Pick<ChangerOptions, "perSecond" | "connections" | "run">,
): Promise<() => Promise<Changes>> {
  const { hostname, port } = new URL(server.url)
  const options: ChangerOptions = { ...load, hostname, port: Number(port), token: TOKEN }
  const child = lab.start([
    ...lab.cores.load,
    ...[process.execPath, join(import.meta.dir, "changer.ts"), JSON.stringify(options)],
  ])
  const lines = new Lines(child, "the process that changes the list")
  await lines.next()
  return async () => {
    child.stdin.write("end\n")
    child.stdin.flush()
    const changes = JSON.parse(await lines.next()) as Changes
    if (changes.wrong > 0 || changes.unanswered > 0) {
      report.wrongAnswer(
        `${load.perSecond} changes a second: ${changes.wrong} refused, ${changes.unanswered} not answered`,
      )
    }
    await child.exited
    return changes
  }
}
