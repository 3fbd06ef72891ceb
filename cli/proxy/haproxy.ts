// The configuration of HAProxy, and the Lua script that asks: HAProxy's own HTTP client, and nothing of a third party.

import { formatListenAddress } from "../../src/listen-address.ts"
import type { Correction, Installation, ProxyTemplate } from "./proxy-template.ts"

export const haproxy: ProxyTemplate = {
  name: "haproxy",
  asksUnixSockets: true,
  configuration: () => CONFIGURATION,
  correction,
  script: { option: "lua", text: script },
}

const CONFIGURATION = `# HAProxy in front of a site, with ipgate deciding who gets in. HAProxy 2.6 or newer, built with Lua.
# Copy it to /etc/haproxy/haproxy.cfg, and change the address of your site. The script that it loads is made by
#   ipgate proxy haproxy --lua > /etc/haproxy/ipgate.lua

global
    user haproxy                # the user that the package of HAProxy makes
    group haproxy
    lua-load /etc/haproxy/ipgate.lua

defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
    timeout tunnel 1h           # WebSockets

frontend web
    bind 0.0.0.0:80
    bind [::]:80 v6only

    # Above every rule that lets a request pass: HAProxy takes them in this order.
    http-request lua.ipgate
    http-request deny deny_status 401 unless { var(txn.ipgate) -m bool }

    default_backend site

backend site
    server site 127.0.0.1:3000  # your site
`

function script({ listen, header }: Installation): string {
  const unix = listen.kind === "unix"
  const host = unix ? "localhost" : formatListenAddress(listen)
  const destination = unix ? `\n    dst = "unix@${listen.path}",` : ""
  return `-- Asks ipgate about each request, for HAProxy 2.6 or newer. haproxy.cfg loads this file.

core.register_action("ipgate", { "http-req" }, function(txn)
  -- Until an answer has come, and whatever goes wrong: no.
  txn:set_var("txn.ipgate", false)
  local answer = core.httpclient():get({
    url = "http://${host}/auth", -- no other path: /status says 200 to everybody${destination}
    -- The address of the connection, and no header of the client.
    headers = { ["${header.toLowerCase()}"] = { txn.sf:src() } },
    timeout = 1000, -- milliseconds; HAProxy tries four times before it gives up
  })
  txn:set_var("txn.ipgate", answer ~= nil and answer.status == 204)
end, 0)
`
}

function correction(what: Correction, header: Installation["header"]): string {
  return {
    identity: `headers = { ["${header.toLowerCase()}"] = { txn.sf:src() } },  in ipgate.lua`,
    endpoint:
      'url = "http://HOST:PORT/auth",  in ipgate.lua, and http-request lua.ipgate  above the rules that let requests pass',
    cache: "take the cache from between ipgate.lua and ipgate",
    "error-page":
      "http-request deny deny_status 401 unless { var(txn.ipgate) -m bool }  and no http-error or errorfile that answers 200",
  }[what]
}
