// Who is asked for decisions by the section `auth`: ipgate with lists of several kinds, the bare handlers, and nginx.

import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { PERMANENT_PATH } from "../../src/wire/paths.ts"
import type { ServerProcess } from "../../test/support/binary.ts"
import { type BareServer, startBare } from "./bare-server.ts"
import type { Mortal } from "./fate.ts"
import { importFile } from "./import-file.ts"
import type { Lab } from "./lab.ts"
import { type Entries, EVERY_LENGTH, makeEntries } from "./million.ts"
import { startGeo, startSite } from "./nginx.ts"
import type { Report } from "./report.ts"
import { wrongDecision } from "./wrong-decision.ts"

/** Ten networks that contain every address: so ten entries can be asked for the clients of any other lists. */
const EVERYBODY = [
  ...["0.0.0.0/2", "64.0.0.0/2", "128.0.0.0/2", "192.0.0.0/2"],
  ...["::/3", "2000::/3", "4000::/3", "6000::/3", "8000::/2", "c000::/2"],
]

export type Clients = { readonly file: string; readonly held: number }

export type Contender = Mortal & {
  readonly name: string
  readonly clientsText: string
  readonly url: string
  readonly servers: readonly number[]
  readonly clients: Clients
  /** The answer to each of its clients; that of a bare handler is the same to everybody, and proves nothing. */
  readonly status: number
}

/** Everybody that is asked for decisions, each with its list and on the server's core. */
export async function startContenders(
  lab: Lab,
  report: Report,
  database: string,
  entries: Entries,
): Promise<Contender[]> {
  const { count } = entries
  const ten = await makeEntries(lab, "ten", 10)
  const every = await makeEntries(lab, "every", count, { kind: EVERY_LENGTH })
  const strangers = await lab.write("strangers.txt", `${entries.out.join("\n")}\n`)
  const everyStranger = await lab.write("every-strangers.txt", `${every.out.join("\n")}\n`)

  await importOnce(lab, "ten.db", ten.file)
  await importOnce(lab, "everybody.db", await lab.write("everybody.txt", `${EVERYBODY.join("\n")}\n`))
  await importOnce(lab, "every.db", every.file)
  copyFileSync(lab.path("every.db"), lab.path("zero.db"))

  const bare = await startBare(lab, [process.execPath, join(import.meta.dir, "./contenders/bare-bun.ts")])
  const header = await startBare(lab, [process.execPath, join(import.meta.dir, "./contenders/header-bun.ts")])
  const gate = async (name: string) => withLog(await lab.serve(name))
  const large = await gate(database)
  const small = await gate("ten.db")
  const wide = await gate("everybody.db")
  const mixed = await gate("every.db")
  const openGate = await lab.serve("zero.db")
  for (const ip of ["0.0.0.0/0", "::/0"]) await openGate.api("POST", PERMANENT_PATH, { ip })
  const open = withLog(openGate)

  const thousand: Clients = { file: entries.clients, held: 1_000 }
  const another: Clients = { file: entries.clients, held: 0 }
  const row = (
    name: string,
    clientsText: string,
    { pid, ...server }: BareServer,
    clients: Clients,
    status = 204,
  ): Contender => ({ ...server, name, clientsText, servers: [pid], clients, status })

  const contenders = [
    row("bare Bun.serve", "1,000 clients", bare, thousand),
    row("bare Bun.serve", "every request another", bare, another),
    row("Bun.serve that reads the header", "1,000 clients", header, thousand),
    row("ipgate, 10 entries", "10 clients", small, { file: ten.clients, held: 10 }),
    row(`ipgate, ${count} entries`, "1,000 clients", large, thousand),
    row(`ipgate, ${count} entries`, "every request another", large, another),
    row(`ipgate, ${count} entries`, "1,000 strangers", large, { file: strangers, held: 1_000 }, 401),
    row("ipgate, 10 entries", "every request another of all lengths", wide, { file: every.clients, held: 0 }),
    row("ipgate, all lengths from 1", "1,000 clients", mixed, { file: every.clients, held: 1_000 }),
    row("ipgate, all lengths from 1", "every request another", mixed, { file: every.clients, held: 0 }),
    row("ipgate, all lengths from 1", "1,000 strangers", mixed, { file: everyStranger, held: 1_000 }, 401),
    row("ipgate, all lengths from 0", "1,000 clients", open, { file: every.clients, held: 1_000 }),
  ]
  const { node, nginx } = lab.programs
  if (node !== null) {
    const plain = await startBare(lab, [node, join(import.meta.dir, "./contenders/bare-node.js")])
    contenders.push(row("bare node:http", "1,000 clients", plain, thousand))
  }
  if (nginx !== null) {
    const geo = await startGeo(lab, entries.geo)
    const asked = { ...geo, pid: geo.worker }
    contenders.push(row(`nginx geo, ${count} entries`, "1,000 clients", asked, thousand))
    contenders.push(row(`nginx geo, ${count} entries`, "every request another", asked, another))
    const page = await startSite(lab, null)
    const guarded = await startSite(lab, large.url.replace("http://", ""))
    contenders.push(row("nginx, a page", "1,000 clients", { ...page, pid: page.worker }, thousand, 200))
    contenders.push({
      ...row(
        "nginx, a page behind ipgate",
        "1,000 clients",
        { ...guarded, pid: guarded.worker },
        thousand,
        200,
      ),
      servers: [guarded.worker, large.pid],
    })
    await checkAnswers(report, "nginx geo", geo.url, entries, 204)
    await checkAnswers(report, "nginx behind ipgate", guarded.url, entries, 200)
  }
  await checkAnswers(report, `ipgate, ${count} entries`, large.url, entries, 204)
  await checkAnswers(report, "ipgate, 10 entries", small.url, ten, 204)
  await checkAnswers(report, "ipgate, all lengths", mixed.url, every, 204)
  return contenders
}

async function importOnce(lab: Lab, database: string, file: string): Promise<void> {
  const server = await lab.serve(database)
  await importFile(lab, server.url, file)
  await server.stop()
}

/** Each client at hand once, the strangers among them. */
async function checkAnswers(
  report: Report,
  name: string,
  url: string,
  entries: Entries,
  yes: number,
): Promise<void> {
  const ask = async (client: string, expected: number) => {
    const wrong = await wrongDecision(url, client, expected)
    if (wrong !== null) report.wrongAnswer(`${name}: ${wrong}`)
  }
  for (const client of entries.in) await ask(client, yes)
  for (const client of entries.out) await ask(client, 401)
}

function withLog(server: ServerProcess): BareServer {
  return { url: server.url, pid: server.pid, exited: server.exited, said: () => server.log() }
}
