// The token that a command shows to the server.

import type { Config } from "../src/config/config.ts"
import { checkToken, readTokenFile } from "../src/token-file.ts"
import type { ProcessEnv } from "./command-env.ts"

/**
 * The token of the named file or variable, else of the first of the files that a server on this machine makes. Throws
 * `TokenError` if it cannot be used.
 */
export function clientToken(config: Config, { readFile }: ProcessEnv): string {
  if (config.tokenFile === null && config.token !== null) {
    checkToken(config.token, "IPGATE_TOKEN")
    return config.token
  }
  const known = [`${config.stateDirectory}/api-token`, "/var/lib/ipgate/api-token", "/etc/ipgate/api-token"]
  const path = config.tokenFile ?? known.find((path) => readFile(path) !== null) ?? (known[0] as string)
  return readTokenFile(path)[0] as string
}
