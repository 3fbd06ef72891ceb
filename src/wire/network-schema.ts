// What JSON Schema can say of addresses and networks: less than `core/network.ts` asks for, and never more.

import type { JsonSchema } from "./inputs.ts"

const ADDRESS_FORMS = [
  { type: "string", format: "ipv4" },
  { type: "string", format: "ipv6" },
] as const

/** A single address. */
export const ADDRESS_SCHEMA = { anyOf: ADDRESS_FORMS } as const satisfies JsonSchema

const IPV4_NETWORK = "[0-9]{1,3}(\\.[0-9]{1,3}){3}/([12]?[0-9]|3[0-2])"
const IPV6_NETWORK = "[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*/([1-9]?[0-9]|1[01][0-9]|12[0-8])"

/** An address or a network. That no host bits are set is beyond a pattern. */
export const NETWORK_SCHEMA = {
  anyOf: [...ADDRESS_FORMS, { type: "string", pattern: `^(${IPV4_NETWORK}|${IPV6_NETWORK})$` }],
} as const satisfies JsonSchema
