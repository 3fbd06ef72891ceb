// Which handler answers which path. Plain data, so that tests and clients call it without a port.

import type { Actor } from "../core/change.ts"
import type { Credential } from "../core/credential.ts"
import { GateError } from "../core/errors.ts"
import type { Gate } from "../core/gate.ts"
import type { Principal } from "../core/principal.ts"
import type { TokenRegistry } from "../core/token.ts"
import type { Log } from "../log/log.ts"
import { statusToJson } from "../wire/answers.ts"
import { API_PREFIX, AUTH_PATH, AUTHZ_PATH, STATUS_PATH } from "../wire/paths.ts"
import { API_TEMPLATES, answerApi, type GateFor } from "./api.ts"
import { authorize, authorizeAny, type Decide } from "./auth.ts"
import type { BearerTokens } from "./bearer.ts"
import type { ClientAddresses } from "./client-address.ts"
import type { FailedSenders } from "./failed-senders.ts"
import { guarded, type Handler, type Peer } from "./guard.ts"
import { ImportSpace } from "./import-space.ts"
import { BodyTooLarge } from "./request-body.ts"
import {
  authzDenied,
  failure,
  internalError,
  json,
  methodNotAllowed,
  text,
  unauthorized,
} from "./responses.ts"
import { TokenEnded } from "./until-token-ends.ts"

export type RouteParts = {
  readonly decide: Decide
  readonly clients: ClientAddresses
  readonly tokens: BearerTokens
  readonly failures: FailedSenders
  /** The tokens, for a client with the powers of a principal. */
  readonly registry: { as(by: Actor, principal: Principal): TokenRegistry }
  readonly gateFor: GateFor
  readonly log: Log
  /** Told of each decision that threw, before the answer, which is never a yes. */
  readonly decisionFailed?: () => void
  /** Wraps each handler that is no decision; `routeOf` tells the template of a request's path. */
  readonly measured?: (routeOf: (request: Request) => string, handle: Handler) => Handler
}

type ApiParts = RouteParts & { readonly imports: ImportSpace }

/**
 * The paths are those of Bun's route table, which alone sees the raw path of a request: `/./auth` and `/%61uth` do
 * not reach `/auth`. Each is one function for every method, because a table of methods answers 404 where 405 is due
 * and runs the GET handler for HEAD. Whatever matches no path is `notFound`.
 */
export type Routes = {
  readonly paths: Readonly<Record<string, Handler>>
  readonly notFound: Handler
  /** True while every peer from this machine is a trusted proxy. A reload can change it. */
  readonly trustsLoopback: boolean
}

/** What counts requests tells all paths by this name that are no endpoint. */
const OTHER = "other"

export function routes(given: RouteParts): Routes {
  const { decide, clients, gateFor, log, decisionFailed, measured = (_, handle) => handle } = given
  const parts = { ...given, imports: new ImportSpace() }
  const trusts = (peer: Peer) => clients.trusts(peer)
  const failed = (cause: unknown) => answerFailure(cause, log)
  const decisionBroke = (cause: unknown) => {
    decisionFailed?.()
    return failed(cause)
  }
  // Envoy can be told to let everybody in after a 5xx, so a fault has to be a plain "no" there.
  const deniedAfterFault = (cause: unknown) => {
    try {
      decisionBroke(cause)
    } catch {
      // The log cannot be written either; the answer stays "no".
    }
    return authzDenied()
  }
  const authz = guarded((request, peer) => authorizeAny(request, peer, decide, trusts), deniedAfterFault)
  const api = (template: string) =>
    measured(
      () => template,
      guarded((request, peer) => answerWithToken(request, peer, template, parts), failed),
    )
  const endpoints = API_TEMPLATES.map((template) => [template.replace(/\{.*\}$/, "*"), api(template)])
  const other = api(OTHER)
  return {
    paths: {
      [AUTH_PATH]: guarded((request, peer) => authorize(request, peer, decide, trusts), decisionBroke),
      [AUTHZ_PATH]: authz,
      [`${AUTHZ_PATH}/*`]: authz,
      [STATUS_PATH]: measured(
        () => STATUS_PATH,
        guarded((request) => status(request, gateFor(null, null)), failed),
      ),
      "/api": other,
      [`${API_PREFIX}*`]: other,
      ...Object.fromEntries(endpoints),
    },
    notFound: measured(
      () => OTHER,
      guarded(() => text(404, "not found"), failed),
    ),
    get trustsLoopback() {
      return clients.trustsLoopback
    },
  }
}

function answerWithToken(
  request: Request,
  peer: Peer,
  template: string,
  parts: ApiParts,
): Response | Promise<Response> {
  const { tokens, failures, clients } = parts
  const shown = tokens.verify(request)
  // Nobody guesses by showing nothing.
  if (shown === "absent") return unauthorized()
  if (shown === "unknown") return failures.answer(clients.ofApiClient(request, peer), unauthorized)
  return answerAuthorized(request, peer, template, shown, parts)
}

function answerAuthorized(
  request: Request,
  peer: Peer,
  template: string,
  credential: Credential,
  { clients, gateFor, registry, imports, log }: ApiParts,
): Response | Promise<Response> {
  const { principal } = credential
  const by =
    principal.scope === "self" ? clients.ownAddress(request, peer) : clients.ofApiClient(request, peer)
  const { path, query } = target(request.url)
  const gate = gateFor(by, principal)
  const tokens = registry.as(by, principal)
  return answerApi({ request, template, path, query, gate, credential, by, tokens, imports, log })
}

async function status(request: Request, gate: Pick<Gate, "status">): Promise<Response> {
  if (request.method !== "GET" && request.method !== "HEAD") return methodNotAllowed("GET, HEAD")
  return json(statusToJson(await gate.status()))
}

/**
 * The path and query of a request, cut out by hand: with a hostile Host header `request.url` is relative or cannot
 * be parsed, and `new URL` would throw.
 */
function target(url: string): { path: string; query: string } {
  const authority = url.startsWith("/") ? -1 : url.indexOf("://")
  const start = authority === -1 ? 0 : url.indexOf("/", authority + 3)
  const rest = start === -1 ? "" : url.slice(start)
  const mark = rest.indexOf("?")
  return mark === -1 ? { path: rest, query: "" } : { path: rest.slice(0, mark), query: rest.slice(mark + 1) }
}

function answerFailure(cause: unknown, log: Log): Response {
  if (cause instanceof BodyTooLarge) return text(413, cause.message)
  if (cause instanceof TokenEnded) return unauthorized()
  if (!(cause instanceof GateError)) {
    log.error("a request failed in a way that should not happen", { cause })
    return internalError()
  }
  if (cause.code === "failed" || cause.code === "unavailable")
    log.error(cause.message, { cause: cause.cause })
  return failure(cause)
}
