// The line to change, in the words of each proxy: those of its template.

import type { Config } from "../../src/config/config.ts"
import { PROXIES } from "../proxy/proxies.ts"
import type { Correction, ProxyTemplate } from "../proxy/proxy-template.ts"

/** For the proxy that the `Server` header names, or for each, because the doctor cannot see which one it is. */
export function corrections(what: Correction, header: Config["clientIpHeader"], server: string): string[] {
  const named = PROXIES.find(({ name }) => server.toLowerCase().startsWith(name))
  const proxies: readonly ProxyTemplate[] = named === undefined ? PROXIES : [named]
  return proxies.map(({ name, correction }) => `${name}: ${correction(what, header)}`)
}
