// Variables that look like those of ipgate and are none: whoever set one believes that it holds.

import { nearestName } from "../nearest-name.ts"
import { CONFIG_VARIABLES } from "./keys.ts"
import type { Environment } from "./settings.ts"

const PREFIX = "IPGATE_"

/**
 * A line for each variable that differs a little from one that the configuration reads. It is no error: others set
 * variables with this beginning too, Kubernetes one for each port of a service with the name ipgate.
 */
export function misspeltVariables(environment: Environment): string[] {
  const known = CONFIG_VARIABLES.map((name) => name.slice(PREFIX.length))
  return Object.keys(environment).flatMap((name) => {
    if (!name.startsWith(PREFIX) || CONFIG_VARIABLES.includes(name)) return []
    const near = nearestName(name.slice(PREFIX.length), known)
    return near === null ? [] : [`${name} is set and means nothing; did you mean ${PREFIX}${near}?`]
  })
}
