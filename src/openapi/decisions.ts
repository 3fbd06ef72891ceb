// The operations that proxies and monitors use, without a token.

import { text } from "../wire/inputs.ts"
import { required } from "../wire/parameters.ts"
import { AUTH_PATH, AUTHZ_PATH, STATUS_PATH } from "../wire/paths.ts"
import { schemaNamed } from "./answer-schemas.ts"
import { anyMethod, json, METHOD_NOT_ALLOWED, NOT_GET } from "./answers.ts"
import type { Operation } from "./operation.ts"

const CLIENT = required({
  name: "X-Real-IP",
  in: "header",
  description:
    "The client's address, from a trusted proxy. A server that is configured for X-Forwarded-For reads that header instead.",
  input: text({ examples: ["203.0.113.7"] }, (address) => address),
})

const BELOW = required({
  name: "path",
  in: "path",
  description: "Whatever the client asked for; it may contain slashes.",
  input: text({}, (path) => path),
})

const authz = {
  summary:
    "Is this client let in? For Envoy, which sends the client's own method and path and takes only 200 for a yes",
  answers: {
    200: { name: "AuthzAllowed", description: "Let in." },
    403: {
      name: "AuthzDenied",
      description: "Not let in, or the address is missing, doubled or malformed, or something broke.",
    },
  },
}

const status = {
  path: STATUS_PATH,
  summary: "Whether the server runs and its database works",
  description: "Says 200 to everybody: a proxy must not ask here whether a client may come in.",
}

const STATUS = json("How the service is.", schemaNamed("Status"))

export const PUBLIC_OPERATIONS: readonly Operation[] = [
  {
    method: "GET",
    path: AUTH_PATH,
    id: "authorize",
    summary: "Is this client let in? For a proxy, before each request",
    description: "Any answer but 204 means no.",
    parameters: [CLIENT],
    answers: {
      204: { description: "Let in: an entry that has not ended contains the address." },
      401: { description: "Not let in, or the address is missing, doubled or malformed." },
      ...NOT_GET,
    },
  },
  ...anyMethod({ ...authz, path: AUTHZ_PATH, id: "authz", parameters: [CLIENT] }),
  ...anyMethod({ ...authz, path: `${AUTHZ_PATH}/{path}`, id: "authzBelow", parameters: [BELOW, CLIENT] }),
  { ...status, method: "GET", id: "status", answers: { ...STATUS, ...METHOD_NOT_ALLOWED } },
  { ...status, method: "HEAD", id: "statusHead", answers: { ...STATUS, ...METHOD_NOT_ALLOWED } },
]
