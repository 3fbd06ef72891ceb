// The proxies that a configuration can be printed for.

import { caddy } from "./caddy.ts"
import { envoy } from "./envoy.ts"
import { haproxy } from "./haproxy.ts"
import { nginx } from "./nginx.ts"
import type { ProxyTemplate } from "./proxy-template.ts"
import { traefik } from "./traefik.ts"

export const PROXIES: readonly ProxyTemplate[] = [nginx, caddy, haproxy, traefik, envoy]
