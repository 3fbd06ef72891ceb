// The configuration of Envoy, with its HTTP ext_authz filter.

import type { Correction, Installation, ProxyTemplate } from "./proxy-template.ts"

export const envoy: ProxyTemplate = { name: "envoy", asksUnixSockets: true, configuration, correction }

function configuration({ listen, header }: Installation): string {
  const address =
    listen.kind === "unix"
      ? `pipe: { path: ${listen.path} }`
      : `socket_address: { address: "${listen.hostname}", port_value: ${listen.port} }`
  return `# Envoy in front of a site, with ipgate deciding who gets in. Tested with Envoy 1.40.
# Change the address of your site, and start Envoy with: envoy -c /etc/envoy/envoy.yaml

static_resources:
  listeners:
    - name: web
      address: { socket_address: { address: "0.0.0.0", port_value: 80 } }
      additional_addresses:
        - address: { socket_address: { address: "::", port_value: 80 } }
      filter_chains:
        - filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: web
                use_remote_address: true # Envoy is the edge: what a client says of its address is not believed
                upgrade_configs: [{ upgrade_type: websocket }]
                route_config:
                  virtual_hosts:
                    - name: site
                      domains: ["*"]
                      routes:
                        - match: { prefix: "/" }
                          route: { cluster: site, timeout: 0s }
                http_filters:
                  - name: envoy.filters.http.ext_authz
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz
                      failure_mode_allow: false # with true everybody gets in while ipgate is down
                      status_on_error: { code: ServiceUnavailable } # no gate, no page
                      http_service:
                        server_uri: { uri: "http://ipgate", cluster: ipgate, timeout: 5s }
                        path_prefix: /authz # not /auth: Envoy takes only a 200 for a yes
                        authorization_request:
                          headers_to_add:
                            # The connection's address. Without DIRECT a client can choose it by X-Forwarded-For,
                            # unless use_remote_address is true.
                            - key: ${header.toLowerCase()}
                              value: "%DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT%"
                  - name: envoy.filters.http.router
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router

  clusters:
    - name: site
      load_assignment:
        cluster_name: site
        endpoints:
          - lb_endpoints:
              - endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: 3000 } } } # your site
    - name: ipgate
      load_assignment:
        cluster_name: ipgate
        endpoints:
          - lb_endpoints:
              - endpoint: { address: { ${address} } }
`
}

function correction(what: Correction, header: Installation["header"]): string {
  return {
    identity: `headers_to_add: ${header.toLowerCase()} with "%DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT%"`,
    endpoint: "path_prefix: /authz  in http_service, and ext_authz above the router in http_filters",
    cache: "take the cache filter from above ext_authz, and the cache from between Envoy and ipgate",
    "error-page": "local_reply_config must not give 403 another status_code",
  }[what]
}
