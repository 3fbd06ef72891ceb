// The package bash-completion, which many have in their bash and some have not.

import { existsSync } from "node:fs"

const PATH = "/usr/share/bash-completion/bash_completion"

/** The file that a shell sources, or `null` if the package is not installed. */
export const BASH_COMPLETION: string | null = existsSync(PATH) ? PATH : null
