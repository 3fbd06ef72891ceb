// What this is: the version, and what it was built with.

import { dependencies, version } from "../package.json"

export const VERSION = version

/** What a report of a fault has to name: `0.1.0 (bun 1.4.5, libsql 0.5.29, linux-x64)`. */
export const VERSION_IN_FULL = `${VERSION} (bun ${Bun.version}, libsql ${dependencies.libsql}, linux-${process.arch})`
