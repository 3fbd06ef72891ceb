// What this is: the version, and what it was built with.

import { version } from "../package.json"

export const VERSION = version
