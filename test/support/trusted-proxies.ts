// Whom a server believes that nobody has told anything, as its configuration says.

import { loadConfig } from "../../src/config/config.ts"

export const { trustedProxies: DEFAULT_TRUSTED_PROXIES } = loadConfig({
  flags: {},
  env: { HOME: "/home/gate" },
  userId: 1000,
  read: () => null,
  isSocket: () => false,
})
