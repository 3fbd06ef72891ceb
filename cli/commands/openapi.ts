// ipgate openapi: the description of the HTTP API, for programs.

import { Command } from "commander"
import type { CommandEnv } from "../command-env.ts"

export function openapiCommand(env: CommandEnv): Command {
  return new Command("openapi")
    .summary("print the description of the API")
    .description(
      "Print the OpenAPI 3.1 document of the HTTP API: what a server of this version has at /openapi.json. Needs no server.",
    )
    .addHelpText(
      "before",
      `Examples:
  ipgate openapi > openapi.json       for a generator of clients, or a browser of APIs
  ipgate openapi | grep operationId   the operations by name
`,
    )
    .action(async () => {
      const { openApiText } = await import("../../src/openapi/document.ts")
      env.process.write(openApiText())
    })
}
