// What the value of an option or an argument can be, by the name that its definition gives it: `<file>`, `<duration>`.

import { Argument, type Command, type Option } from "commander"
import { CHOICES } from "../../src/config/choices.ts"
import { PROXIES } from "../proxy/proxies.ts"

/** `entries` are those of the lists of the running server, `tokens` the names of its tokens. */
export type Values = readonly string[] | "files" | "directories" | "entries" | "tokens"

const KINDS: Readonly<Record<string, Values>> = {
  file: "files",
  directory: "directories",
  ip: "entries",
  "ip|cidr": "entries",
  // Any other will do as well; these are the ones that people want.
  duration: ["30m", "1h", "8h", "1d", "7d"],
}

/** Values that a definition tells only in its words, by the command, or by the option wherever it is. */
const NAMED: Readonly<Record<string, Values>> = {
  proxy: PROXIES.map(({ name }) => name),
  "--client-ip-header": CHOICES["auth.client_ip_header"],
  "--db": "files",
  "--log-level": CHOICES["log.level"],
  "--log-format": CHOICES["log.format"],
  "--log-refusals": CHOICES["log.refusals"],
  revoke: "tokens",
  // What is on a list needs no allowing.
  allow: [],
}

/** What may be the value of `of`, which belongs to `command`. Empty if nobody can know. */
export function valuesOf(command: Command, of: Option | Argument): Values {
  if (of.argChoices !== undefined) return of.argChoices
  const isArgument = of instanceof Argument
  const named = NAMED[isArgument ? command.name() : (of.long ?? "")]
  if (named !== undefined) return named
  const name = isArgument ? of.name() : /<([^>]*?)(?:\.\.\.)?>/.exec(of.flags)?.[1]
  return KINDS[name ?? ""] ?? []
}
