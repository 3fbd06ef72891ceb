// What JSON Schema can say of addresses and networks: less than `core/network.ts` asks for, and never more.

import type { JsonSchema } from "./inputs.ts"

const ADDRESS_FORMS = [
  { type: "string", format: "ipv4" },
  { type: "string", format: "ipv6" },
] as const

/** A single address. */
export const ADDRESS_SCHEMA = { anyOf: ADDRESS_FORMS } as const satisfies JsonSchema

/** An address or a network. That no host bits are set is beyond a pattern. */
export const NETWORK_SCHEMA = {
  anyOf: [...ADDRESS_FORMS, { type: "string", pattern: "^[0-9A-Fa-f.:]+/(0|[1-9][0-9]{0,2})$" }],
} as const satisfies JsonSchema
