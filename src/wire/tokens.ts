// The named tokens as JSON: what is asked for, and what is answered.

import { LONGEST_TTL_SECONDS } from "../core/entry.ts"
import { invalid } from "../core/errors.ts"
import {
  explainTokenName,
  LONGEST_TOKEN_NAME,
  TOKEN_SCOPES,
  TOKEN_STATES,
  type Token,
  type TokenRequest,
  type TokenState,
} from "../core/token.ts"
import * as answers from "./answers.ts"
import { choice, integer, object, text } from "./inputs.ts"
import { required } from "./parameters.ts"
import { NETWORK } from "./requests.ts"

const NAME = text(
  {
    pattern: "^[a-z0-9][a-z0-9._-]*$",
    maxLength: LONGEST_TOKEN_NAME,
    description: "What the log calls it. A name is used once; `file` and `offline` are taken.",
    examples: ["helpdesk"],
  },
  (name) => {
    const fault = explainTokenName(name)
    if (fault !== null) throw invalid(fault)
    return name
  },
)

const seconds = (description: string) => integer({ minimum: 1, maximum: LONGEST_TTL_SECONDS, description })

export const TOKEN_BODY = object({
  description: "A token that is to be made.",
  required: { name: NAME, scope: choice(TOKEN_SCOPES, "a scope") },
  optional: {
    max_ttl_seconds: seconds("temp-only and self, which need it: the longest lifetime of an entry."),
    within: NETWORK,
    ttl_seconds: seconds("The lifetime of the token; without it, it is good until it is revoked."),
  },
})

export const PATH_NAME = required({
  name: "name",
  in: "path",
  description: "The name of the token.",
  input: text({}, (name) => name),
})

/** The body of a request for a new token. What goes with which scope is for `explainToken` to say. */
export function readTokenBody(body: unknown): TokenRequest {
  const { name, scope, ...limits } = TOKEN_BODY.read(body, "the body")
  return {
    name,
    scope,
    maxTtlSeconds: limits.max_ttl_seconds ?? null,
    within: limits.within ?? null,
    lifetimeSeconds: limits.ttl_seconds ?? null,
  }
}

export function tokenRequestToJson({ name, scope, maxTtlSeconds, within, lifetimeSeconds }: TokenRequest) {
  return {
    name,
    scope,
    ...(maxTtlSeconds === null ? {} : { max_ttl_seconds: maxTtlSeconds }),
    ...(within === null ? {} : { within: within.toString() }),
    ...(lifetimeSeconds === null ? {} : { ttl_seconds: lifetimeSeconds }),
  }
}

export function tokenToJson(token: Token) {
  return {
    name: token.name,
    scope: token.scope,
    max_ttl_seconds: token.maxTtlSeconds,
    within: token.within,
    created: answers.toTime(token.createdAt),
    expires: toTimeOrNull(token.expiresAt),
    last_used: toTimeOrNull(token.lastUsedAt),
    revoked: toTimeOrNull(token.revokedAt),
    state: token.state,
  }
}

/** The one answer with a secret. */
export function newTokenToJson(token: Token, secret: string) {
  return { ...tokenToJson(token), token: secret }
}

export function tokenFromJson(json: unknown): Token {
  const maxTtlSeconds = answers.member(json, "max_ttl_seconds")
  return {
    name: answers.text(json, "name"),
    scope: answers.text(json, "scope"),
    maxTtlSeconds: maxTtlSeconds === null ? null : answers.count(json, "max_ttl_seconds"),
    within: answers.textOrNull(json, "within"),
    createdAt: answers.time(answers.text(json, "created")),
    expiresAt: timeOrNull(json, "expires"),
    lastUsedAt: timeOrNull(json, "last_used"),
    revokedAt: timeOrNull(json, "revoked"),
    state: state(json),
  }
}

export function newTokenFromJson(json: unknown): { token: Token; secret: string } {
  return { token: tokenFromJson(json), secret: answers.text(json, "token") }
}

function state(json: unknown): TokenState {
  const text = answers.text(json, "state")
  const found = TOKEN_STATES.find((one) => one === text)
  if (found === undefined) throw answers.unexpected("state")
  return found
}

function toTimeOrNull(milliseconds: number | null): string | null {
  return milliseconds === null ? null : answers.toTime(milliseconds)
}

function timeOrNull(json: unknown, name: string): number | null {
  const text = answers.textOrNull(json, name)
  return text === null ? null : answers.time(text)
}
