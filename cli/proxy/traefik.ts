// The configuration of Traefik: one file for its file provider.

import { formatListenAddress } from "../../src/listen-address.ts"
import type { Correction, Installation, ProxyTemplate } from "./proxy-template.ts"

export const traefik: ProxyTemplate = { name: "traefik", asksUnixSockets: false, configuration, correction }

function configuration({ listen, header }: Installation): string {
  const gate = listen.kind === "tcp" ? formatListenAddress(listen) : ""
  return `# Traefik in front of a site, with ipgate deciding who gets in. Traefik 3.
# Copy it to /etc/traefik/ipgate.yml, change the name and the address of your site, and start Traefik with
#   traefik --entrypoints.web.address=:80 --providers.file.filename=/etc/traefik/ipgate.yml
# If another proxy stands in front of Traefik, name it: --entrypoints.web.forwardedheaders.trustedips=192.0.2.10
# Never use forwardedheaders.insecure: then a client writes its address itself.

http:
  middlewares:
    ipgate:
      forwardAuth:
        address: "http://${gate}/auth" # no other path: /status says 200 to everybody
${header === "X-Real-IP" ? X_REAL_IP : X_FORWARDED_FOR}        maxResponseBodySize: 1024

  routers:
    site:
      rule: "Host(\`example.org\`)"
      middlewares: ["ipgate"]
      service: site

  services:
    site:
      loadBalancer:
        servers:
          - url: "http://127.0.0.1:3000" # your site
`
}

const X_REAL_IP = `        # The entry point has removed what the client wrote, and set X-Real-Ip to the address of the connection.
        # With false, Traefik would delete X-Real-Ip from the question, and everybody would be denied.
        trustForwardHeader: true
        authRequestHeaders: ["X-Real-Ip"] # this one only: the client's cookies are no business of the gate
`

const X_FORWARDED_FOR = `        trustForwardHeader: false # X-Forwarded-For is the address of the connection, whatever the client wrote
        authRequestHeaders: ["X-Forwarded-For"] # this one only: the client's cookies are no business of the gate
`

function correction(what: Correction, header: Installation["header"]): string {
  return {
    identity:
      header === "X-Real-IP"
        ? 'trustForwardHeader: true, authRequestHeaders: ["X-Real-Ip"], and no forwardedheaders.insecure at the entry point'
        : 'trustForwardHeader: false and authRequestHeaders: ["X-Forwarded-For"]',
    endpoint:
      'address: "http://HOST:PORT/auth"  in forwardAuth, and the middleware in the list of the router',
    cache: "take the cache from between Traefik and ipgate",
    "error-page": "take the errors middleware for 401 out, or let its service answer with status 401",
  }[what]
}
