// The headers in which a client may claim an address, and the ways in which it may write them.

import { CHOICES } from "../../src/config/choices.ts"

/** Every name in which some proxy, CDN or application carries a client's address. */
const NAMES = [
  "X-Real-IP",
  "X-Forwarded-For",
  "Forwarded",
  "CF-Connecting-IP",
  "CF-Connecting-IPv6",
  "True-Client-IP",
  "X-Client-IP",
  "Client-IP",
  "X-Cluster-Client-IP",
  "X-Original-Forwarded-For",
  "X-Original-Real-IP",
  "X-Original-Client-IP",
  "X-Envoy-External-Address",
  "X-Forwarded",
  "Forwarded-For",
  "Fastly-Client-IP",
  "Fly-Client-IP",
  "X-Azure-ClientIP",
  "X-Appengine-User-IP",
  "X-Remote-IP",
  "X-Remote-Addr",
  "Remote-Addr",
  "X-Originating-IP",
  "X-ProxyUser-IP",
] as const

/** Those that ipgate can be told to read. */
const READ = CHOICES["auth.client_ip_header"]

export type Forgery = {
  /** `X-Real-IP, doubled` */
  readonly name: string
  readonly lines: readonly string[]
}

/** Everything that a client may try in order to be taken for `address`. */
export function forgeries(address: string): Forgery[] {
  const line = (name: string) => `${name}: ${valueFor(name, address)}`
  const all = NAMES.map(line)
  return [
    ...NAMES.map((name) => ({ name, lines: [line(name)] })),
    ...NAMES.map((name) => ({ name: `${name}, doubled`, lines: [line(name), line(name)] })),
    ...NAMES.filter((name) => name.includes("-")).map((name) => {
      const underscored = name.replaceAll("-", "_")
      return {
        name: `${underscored}, with underscores`,
        lines: [`${underscored}: ${valueFor(name, address)}`],
      }
    }),
    ...READ.flatMap((name) => [
      { name: `${name}, after an empty one`, lines: [`${name}:`, line(name)] },
      { name: `${name}, as a list`, lines: [`${name}: ${address}, ${address}`] },
      // A proxy takes out what Connection names, and with it perhaps what it has just set.
      { name: `${name}, named by Connection`, lines: [`Connection: close, ${name}`, line(name)] },
    ]),
    { name: "all of them at once", lines: all },
  ]
}

function valueFor(name: string, address: string): string {
  if (name !== "Forwarded") return address
  return `for=${address.includes(":") ? `"[${address}]"` : address}`
}
