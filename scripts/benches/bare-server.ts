// A contender that is a program of its own, answers at a port that it prints, and decides nothing.

import { type Lab, Lines } from "./lab.ts"

export type BareServer = { readonly url: string; readonly pid: number }

/** On the server's core. */
export async function startBare(lab: Lab, command: readonly string[]): Promise<BareServer> {
  const child = lab.start([...lab.cores.server, ...command])
  return { url: `http://127.0.0.1:${await new Lines(child).next()}`, pid: child.pid }
}
