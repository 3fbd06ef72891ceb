// The addresses and networks that a command is about: all of them valid before the first change.

import { explainNetwork } from "../src/core/explain.ts"
import { Network } from "../src/core/network.ts"
import { UsageError } from "./exit.ts"

/**
 * Networks from the arguments, `-` standing for the lines of standard input (empty lines and `#` comments are
 * skipped). Throws one `UsageError` that names everything that is wrong. A network that is given twice counts once.
 */
export async function readTargets(
  texts: readonly string[],
  readInput: () => Promise<string>,
): Promise<Network[]> {
  const all: string[] = []
  for (const text of texts) {
    if (text !== "-") all.push(text)
    else all.push(...linesOf(await readInput()))
  }
  if (all.length === 0) throw new UsageError("no address is given")
  const problems: string[] = []
  const networks = new Map<string, Network>()
  for (const text of all) {
    const network = Network.parse(text)
    if (network === null) problems.push(explainNetwork(text))
    else networks.set(network.toString(), network)
  }
  if (problems.length > 0) throw new UsageError(problems.join("\n"))
  return [...networks.values()]
}

function linesOf(input: string): string[] {
  return input
    .split(/\r?\n/)
    .map((line) => line.replace(/#.*/, "").trim())
    .filter((line) => line !== "")
}
