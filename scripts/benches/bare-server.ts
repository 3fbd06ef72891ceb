// A contender that is a program of its own, answers at a port that it prints, and decides nothing.

import { basename } from "node:path"
import { type Mortal, mortal } from "./fate.ts"
import type { Lab } from "./lab.ts"
import { Lines } from "./lines.ts"

export type BareServer = Mortal & { readonly url: string; readonly pid: number }

/** On the server's core. */
export async function startBare(lab: Lab, command: readonly string[]): Promise<BareServer> {
  const child = lab.start([...lab.cores.server, ...command])
  const port = await new Lines(child, basename(command.at(-1) ?? "")).next()
  return { ...mortal(child), url: `http://127.0.0.1:${port}`, pid: child.pid }
}
