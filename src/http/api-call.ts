// What every endpoint under /api is given.

import type { Actor } from "../core/change.ts"
import type { Credential } from "../core/credential.ts"
import type { Gate } from "../core/gate.ts"
import type { TokenRegistry } from "../core/token.ts"
import type { Log } from "../log/log.ts"
import type { ImportSpace } from "./import-space.ts"

/** What an endpoint needs of a request that has shown its token. `path` and `query` are raw text. */
export type ApiCall = {
  readonly request: Request
  /** The endpoint's path as the documentation writes it, which the raw path of the request has matched. */
  readonly template: string
  readonly path: string
  readonly query: string
  readonly gate: Gate
  readonly credential: Credential
  readonly by: Actor
  readonly tokens: TokenRegistry
  readonly imports: ImportSpace
  readonly log: Log
}
