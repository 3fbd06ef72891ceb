// The contract of `Gate` over everything that is one.

import {
  openOverHandlers,
  openOverLibsqlStore,
  openOverServer,
  openOverThreadStore,
} from "../support/gate-openers.ts"
import { describeBulkGate } from "./bulk-contract.ts"
import { describeGate } from "./contract.ts"
import { describeFeed } from "./feed-contract.ts"

for (const [name, open] of [
  ["LocalGate over the database in this thread", openOverLibsqlStore],
  ["LocalGate over the database in its own thread", openOverThreadStore],
  ["RemoteGate over the handlers", openOverHandlers],
  ["RemoteGate over a server", openOverServer],
] as const) {
  describeGate(name, open)
  describeBulkGate(`${name}, in bulk`, open)
  describeFeed(`${name}, followed`, open)
}
