// The endpoints that want a token: decode, ask the gate, answer.

import type { Actor } from "../core/change.ts"
import { invalid } from "../core/errors.ts"
import type { Gate } from "../core/gate.ts"
import type { Network } from "../core/network.ts"
import { forbidden, type Principal } from "../core/principal.ts"
import { openApiText } from "../openapi/document.ts"
import type { EndpointTable, EntryEndpointTable } from "../openapi/operations.ts"
import * as answers from "../wire/answers.ts"
import { LARGEST_IMPORT } from "../wire/largest-import.ts"
import * as paths from "../wire/paths.ts"
import * as requests from "../wire/requests.ts"
import type { ApiCall } from "./api-call.ts"
import { readBody, readJsonBody } from "./request-body.ts"
import { changed, database, eventStream, json, jsonText, lines, methodNotAllowed, text } from "./responses.ts"
import { mayAsk } from "./scopes.ts"
import { createToken, listTokens, revokeToken } from "./tokens.ts"
import { brokenOffWithToken, untilTokenEnds } from "./until-token-ends.ts"

/** The gate that acts for a client with the powers of a principal; `null` is this process itself. */
export type GateFor = (by: Actor, principal: Principal | null) => Gate

/** `rest` is the end of the path where the table has a part in braces: raw text. */
type Endpoint = (call: ApiCall, rest: string) => Promise<Response>
type Methods = Readonly<Record<string, Endpoint>>

const ENDPOINTS: EndpointTable<Endpoint> = {
  [paths.PERMANENT_PATH]: { POST: addPermanent },
  [paths.PERMANENT_LIST_PATH]: { GET: listPermanent },
  [paths.TEMPORARY_PATH]: { GET: listTemporary, POST: addTemporary },
  [paths.TEMPORARY_LIST_PATH]: { GET: listTemporary },
  [paths.IMPORT_PATH]: { POST: importEntries },
  [paths.EXPORT_PATH]: { GET: exportEntries },
  [paths.BACKUP_PATH]: { GET: backup },
  [paths.EVENTS_PATH]: { GET: events },
  [paths.DENIED_PATH]: { GET: denied },
  [paths.DECISIONS_PATH]: { GET: decisions },
  [paths.LOGS_PATH]: { GET: logs },
  [paths.CHECK_PATH]: { GET: check },
  [paths.TOKENS_PATH]: { GET: listTokens, POST: createToken },
  [paths.OPENAPI_PATH]: { GET: openApi },
}

const ENTRY_ENDPOINTS: EntryEndpointTable<Endpoint> = {
  [paths.PERMANENT_ENTRY]: { DELETE: removePermanent },
  [paths.TEMPORARY_ENTRY]: { DELETE: removeTemporary },
  [paths.TOKEN_ENTRY]: { DELETE: revokeToken },
}

/** Every endpoint, as `GET /api/logs` and `DELETE /api/tokens/{name}`. */
export const API_ENDPOINTS: readonly string[] = Object.entries({ ...ENDPOINTS, ...ENTRY_ENDPOINTS }).flatMap(
  ([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`),
)

const METHODS: Readonly<Record<string, Methods>> = { ...ENDPOINTS, ...ENTRY_ENDPOINTS }

/** The paths of the endpoints as the documentation writes them, with `{ip}` or `{name}` for what stands there. */
export const API_TEMPLATES: readonly string[] = Object.keys(METHODS)

/**
 * The answer to a request with a token. Throws `forbidden` if the token is not good for the endpoint, and rejects with
 * `GateError`; an unknown path is 404, an unknown method 405.
 */
export function answerApi(call: ApiCall): Response | Promise<Response> {
  const { template, path } = call
  const methods = Object.hasOwn(METHODS, template) ? METHODS[template] : undefined
  const rest = restOf(path, template)
  if (methods === undefined || rest === null) return text(404, "not found")
  const { method } = call.request
  const endpoint = Object.hasOwn(methods, method) ? methods[method] : undefined
  if (endpoint === undefined) return methodNotAllowed(Object.keys(methods).join(", "))
  const { principal } = call.credential
  if (!mayAsk(principal, `${method} ${template}`)) throw forbidden(principal, call.by)
  return endpoint(call, rest)
}

/**
 * What stands in the place of the braces; `null` if `path` does not lie where its template says. The address of a
 * request has its dot segments and backslashes resolved, and what they lead to is not what a proxy in front has seen.
 */
function restOf(path: string, template: string): string | null {
  const brace = template.indexOf("{")
  if (brace === -1) return path === template ? "" : null
  const base = template.slice(0, brace)
  return path.startsWith(base) && !Object.hasOwn(ENDPOINTS, path) ? path.slice(base.length) : null
}

async function addPermanent(call: ApiCall): Promise<Response> {
  const network = requests.readPermanentBody(await readJsonBody(call))
  const result = await call.gate.addPermanent(network)
  return changed({ [paths.RESULT_HEADER]: result })
}

async function removePermanent({ gate }: ApiCall, rest: string): Promise<Response> {
  return changed({ [paths.RESULT_HEADER]: await gate.removePermanent(networkInPath(rest)) })
}

async function listPermanent({ query, gate }: ApiCall): Promise<Response> {
  const entries = await gate.listPermanent(requests.readPage(new URLSearchParams(query)))
  return json(entries.map(answers.permanentEntryToJson))
}

async function addTemporary(call: ApiCall): Promise<Response> {
  const grant = requests.readTemporaryBody(await readJsonBody(call))
  const { result, expiresAt } = await call.gate.addTemporary(grant)
  return changed({ [paths.RESULT_HEADER]: result, [paths.EXPIRES_HEADER]: answers.toTime(expiresAt) })
}

async function removeTemporary({ gate }: ApiCall, rest: string): Promise<Response> {
  return changed({ [paths.RESULT_HEADER]: await gate.removeTemporary(networkInPath(rest)) })
}

async function listTemporary({ query, gate }: ApiCall): Promise<Response> {
  const entries = await gate.listTemporary(requests.readPage(new URLSearchParams(query)))
  return json(entries.map(answers.temporaryEntryToJson))
}

async function importEntries(call: ApiCall): Promise<Response> {
  const prune = requests.readPrune(new URLSearchParams(call.query))
  using _ = call.imports.take(call.request)
  const lines = await readBody(call, LARGEST_IMPORT)
  // Awaited here: the text is in memory until then.
  const counts = await call.gate.import({ lines, prune })
  return json(answers.importCountsToJson(counts))
}

async function exportEntries({ gate, credential }: ApiCall): Promise<Response> {
  const pieces = brokenOffWithToken(credential, gate.export())
  // The first piece is awaited here, so that a database that fails is a 500 and not an answer that breaks off.
  return lines(await pieces.next(), pieces)
}

async function backup({ gate, credential }: ApiCall): Promise<Response> {
  const pieces = brokenOffWithToken(credential, gate.backup())
  return database(await pieces.next(), pieces)
}

async function events({ request, query, gate, credential }: ApiCall): Promise<Response> {
  const { start, filter } = requests.readFeedQuery(
    new URLSearchParams(query),
    request.headers.get("Last-Event-ID"),
  )
  const follow = (signal: AbortSignal) => gate.follow(start, filter, signal)
  return eventStream(untilTokenEnds(credential, request.signal, follow))
}

async function denied({ query, gate }: ApiCall): Promise<Response> {
  const entries = await gate.refused(requests.readPage(new URLSearchParams(query)))
  return json(entries.map(answers.refusedEntryToJson))
}

async function decisions({ gate }: ApiCall): Promise<Response> {
  return json(answers.decisionCountsToJson(await gate.decisions()))
}

async function logs({ query, gate }: ApiCall): Promise<Response> {
  const parameters = new URLSearchParams(query)
  const wanted = requests.readAuditQuery(parameters)
  if (requests.readDetail(parameters)) {
    return json((await gate.auditDetail(wanted)).map(answers.auditDetailToJson))
  }
  return json((await gate.audit(wanted)).map(answers.auditRecordToJson))
}

async function check({ query, gate }: ApiCall): Promise<Response> {
  const { network, all } = requests.readCheckQuery(new URLSearchParams(query))
  const coverage = await gate.check(network)
  const answer = answers.coverageToJson(network, coverage)
  return json(all ? { ...answer, matches: coverage.matches.map(answers.matchToJson) } : answer)
}

async function openApi(): Promise<Response> {
  return jsonText(openApiText())
}

// The rest of the path is one network, percent-encoded or not, and decoded once: `10.0.0.0%2F8` and `10.0.0.0/8`.
function networkInPath(rest: string): Network {
  if (rest === "") throw invalid("ip is missing: the address goes after the last slash")
  let decoded: string
  try {
    decoded = decodeURIComponent(rest)
  } catch {
    throw invalid("the path has a broken percent escape")
  }
  return requests.readNetwork(decoded)
}
