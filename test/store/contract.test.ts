// The contract of `Store` over both of its implementations.

import { LibsqlStore } from "../../src/store/libsql-store.ts"
import type { StoreConfig } from "../../src/store/store.ts"
import { ThreadStore } from "../../src/store/thread-store.ts"
import { describeBulk } from "./bulk-contract.ts"
import { describeStore } from "./contract.ts"

const inThisThread = (config: StoreConfig) => new LibsqlStore(config)
const inItsOwnThread = (config: StoreConfig) => new ThreadStore(config)

describeStore("LibsqlStore", inThisThread)
describeBulk("LibsqlStore, in bulk", inThisThread)
describeStore("ThreadStore", inItsOwnThread)
describeBulk("ThreadStore, in bulk", inItsOwnThread)
