// The configuration of nginx. For an installation that changes nothing it is docs/nginx.conf.

import { formatListenAddress } from "../../src/listen-address.ts"
import type { Correction, Installation, ProxyTemplate } from "./proxy-template.ts"

export const nginx: ProxyTemplate = { name: "nginx", asksUnixSockets: true, configuration, correction }

function configuration({ listen, header }: Installation): string {
  const server =
    listen.kind === "unix"
      ? `server unix:${listen.path};`
      : `server ${formatListenAddress(listen)};      # or: server unix:/run/ipgate/ipgate.sock;`
  return `# nginx in front of a site, with ipgate deciding who gets in.
# Copy it to /etc/nginx/conf.d/, and change server_name and the address of your site.

upstream ipgate {
    ${server}
    keepalive 32;               # one connection serves many checks
}

server {
    listen 80;
    listen [::]:80;
    server_name example.org;

    location / {
        auth_request /_ipgate;
        proxy_pass http://127.0.0.1:3000;       # your site
    }

    location = /_ipgate {
        internal;
        proxy_pass http://ipgate/auth;          # no other path: /status says 200 to everybody
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header ${header} $remote_addr;    # never $http_${header.toLowerCase().replaceAll("-", "_")}: a client writes that one
        proxy_pass_request_headers off;         # the client's cookies are no business of the gate
        proxy_pass_request_body off;
        proxy_set_header Content-Length "";
        proxy_connect_timeout 5s;               # no gate, no page: the visitor gets an error after this
        proxy_read_timeout 5s;
        proxy_intercept_errors off;             # an error page or a cache of the site must not turn
        proxy_cache off;                        # a "no" into a "yes"
    }
}
`
}

function correction(what: Correction, header: Installation["header"]): string {
  return {
    identity: `proxy_set_header ${header} $remote_addr;  in location = /_ipgate`,
    endpoint:
      "proxy_pass http://ipgate/auth;  in location = /_ipgate, and auth_request /_ipgate;  where the site is served",
    cache: "proxy_cache off;  in location = /_ipgate",
    "error-page":
      "error_page 401 /page;  without =200, and proxy_intercept_errors off;  in location = /_ipgate",
  }[what]
}
