// What a template of a proxy is filled with, and what each of them can do.

import type { Config } from "../../src/config/config.ts"

export type ListenAddress = Config["listen"][number]

/** Where the proxy finds ipgate, and the header in which it names the client. */
export type Installation = { readonly listen: ListenAddress; readonly header: Config["clientIpHeader"] }

/** What can be wrong with a chain and is put right by one line: who the client is, which path is asked, what is kept. */
export type Correction = "identity" | "endpoint" | "cache" | "error-page"

/** A complete configuration, which the tests run as it is but for the addresses. */
export type ProxyTemplate = {
  readonly name: string
  /** False for a proxy that asks over TCP only. */
  readonly asksUnixSockets: boolean
  readonly configuration: (installation: Installation) => string
  /** The line that puts it right, and where it stands. */
  readonly correction: (what: Correction, header: Config["clientIpHeader"]) => string
  /** A second file, which the first one loads: the option that prints it, and its text. */
  readonly script?: { readonly option: "lua"; readonly text: (installation: Installation) => string }
}
