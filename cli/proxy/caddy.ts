// The configuration of Caddy: a Caddyfile.

import { formatListenAddress } from "../../src/listen-address.ts"
import type { Correction, Installation, ProxyTemplate } from "./proxy-template.ts"

export const caddy: ProxyTemplate = { name: "caddy", asksUnixSockets: true, configuration, correction }

function configuration({ listen, header }: Installation): string {
  const upstream = listen.kind === "unix" ? `unix/${listen.path}` : formatListenAddress(listen)
  return `# Caddy in front of a site, with ipgate deciding who gets in. Caddy 2.6 or newer.
# Copy it to /etc/caddy/Caddyfile, and change the name and the address of your site.

example.org {
	forward_auth ${upstream} {
		uri /auth # no other path: /status says 200 to everybody

		# Overwrites what the client wrote. Caddy passes a client's own X-Real-IP on if this line is missing.
		# Behind another proxy, with Caddy 2.7 or newer: {client_ip}, and in the global options
		# servers { trusted_proxies static 192.0.2.10 trusted_proxies_strict }
		header_up ${header} {http.request.remote.host}

		# The client's cookies and passwords are no business of the gate.
		header_up -Cookie
		header_up -Authorization

		# No gate, no page: the visitor gets an error after this.
		transport http {
			dial_timeout 5s
			response_header_timeout 5s
		}
	}

	reverse_proxy 127.0.0.1:3000 # your site
}
`
}

function correction(what: Correction, header: Installation["header"]): string {
  return {
    identity: `header_up ${header} {http.request.remote.host}  in forward_auth`,
    endpoint: "uri /auth  in forward_auth, which stands above reverse_proxy",
    cache: "take the cache from between forward_auth and ipgate",
    "error-page": "take out handle_errors and handle_response for 401, or let them answer with status 401",
  }[what]
}
