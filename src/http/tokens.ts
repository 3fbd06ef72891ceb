// The endpoints of the named tokens.

import { invalid } from "../core/errors.ts"
import { quoted } from "../core/printable.ts"
import { RESULT_HEADER, tokenPath } from "../wire/paths.ts"
import { readPage } from "../wire/requests.ts"
import { newTokenToJson, readTokenBody, tokenToJson } from "../wire/tokens.ts"
import type { ApiCall } from "./api-call.ts"
import { readJsonBody } from "./request-body.ts"
import { changed, created, json, text } from "./responses.ts"

/** The answer is the only one that ever holds the secret. */
export async function createToken(call: ApiCall): Promise<Response> {
  const { tokens, log, by } = call
  const { token, secret } = await tokens.create(readTokenBody(await readJsonBody(call)))
  log.notice(`made the token ${token.name}`, {
    event: "token.create",
    scope: token.scope,
    client_ip: by?.toString(),
  })
  return created(tokenPath(token.name), newTokenToJson(token, secret))
}

export async function listTokens({ query, tokens }: ApiCall): Promise<Response> {
  return json((await tokens.list(readPage(new URLSearchParams(query)))).map(tokenToJson))
}

/** A name that nobody has is 404, because a spelling error must not pass for a revocation. */
export async function revokeToken({ tokens, log, by }: ApiCall, rest: string): Promise<Response> {
  const name = decoded(rest)
  const result = await tokens.revoke(name)
  if (result === "absent") {
    const answer = text(404, `there is no token of the name ${quoted(name)}`)
    answer.headers.set(RESULT_HEADER, result)
    return answer
  }
  if (result === "revoked") {
    log.notice(`revoked the token ${name}`, { event: "token.revoke", client_ip: by?.toString() })
  }
  return changed({ [RESULT_HEADER]: result })
}

function decoded(rest: string): string {
  try {
    return decodeURIComponent(rest)
  } catch {
    throw invalid("the path has a broken percent escape")
  }
}
