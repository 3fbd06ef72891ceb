// The words that a value can be where there are only a few: what is accepted, and what completion offers.

import { CLIENT_IP_HEADERS } from "../http/client-address.ts"
import { LOG_FORMAT_NAMES } from "../log/log-formats.ts"
import { LOG_LEVELS } from "../log/log-levels.ts"
import type { KeyName } from "./keys.ts"

export const CHOICES = {
  "auth.client_ip_header": CLIENT_IP_HEADERS,
  "log.level": LOG_LEVELS,
  "log.format": ["auto", ...LOG_FORMAT_NAMES],
  "log.refusals": ["summary", "none"],
} as const satisfies Partial<Record<KeyName, readonly string[]>>
