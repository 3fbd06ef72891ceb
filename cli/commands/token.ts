// ipgate token: tokens with less power than the one of the token file, each with a name.

import { Command, Option } from "commander"
import { formatDuration, parseDuration } from "../../src/core/duration.ts"
import { explainNetwork } from "../../src/core/explain.ts"
import { Network } from "../../src/core/network.ts"
import { quoted } from "../../src/core/printable.ts"
import { explainToken, TOKEN_SCOPES, type TokenRequest, type TokenScope } from "../../src/core/token.ts"
import { newTokenToJson, tokenToJson } from "../../src/wire/tokens.ts"
import type { CommandEnv } from "../command-env.ts"
import { EXIT, UsageError } from "../exit.ts"
import { ago, readTtl, readUntil, shortTime } from "../times.ts"
import { tokenList, wholeList } from "../whole-list.ts"

type CreateOptions = { scope: TokenScope; maxTtl?: string; within?: string; expires?: string }

export function tokenCommand(env: CommandEnv): Command {
  return new Command("token")
    .summary("make, list and revoke named tokens")
    .description(
      "Make, list and revoke named tokens, which may do less than the token of the token file. Only that one, or " +
        "--offline, can manage them.",
    )
    .addHelpText(
      "before",
      `Examples:
  ipgate token create monitoring --scope read
  ipgate token list
  ipgate token revoke monitoring
`,
    )
    .helpCommand("help [command]", "print help for a command")
    .addCommand(createCommand(env))
    .addCommand(listCommand(env))
    .addCommand(revokeCommand(env))
}

function createCommand(env: CommandEnv): Command {
  return new Command("create")
    .summary("make a token and print its secret, once")
    .description(
      "Make a token and print its secret on standard output. It is shown this one time: ipgate keeps only a digest.",
    )
    .argument("<name>", "what the log calls it: a-z, 0-9, and . _ - inside; a name is used once")
    .addOption(
      new Option("--scope <scope>", "what may be done with it")
        .choices([...TOKEN_SCOPES])
        .makeOptionMandatory(),
    )
    .option("--max-ttl <duration>", "temp-only, self: the longest lifetime of an entry")
    .option("--within <ip|cidr>", "temp-only: entries must lie in this network")
    .option(
      "--expires <time>",
      "until when it is good: 90d, 2026-12-31, or 18:00; without it until it is revoked",
    )
    .addHelpText(
      "before",
      `Examples:
  ipgate token create dashboard --scope read
  ipgate token create ci --scope write --expires 90d
  ipgate token create helpdesk --scope temp-only --max-ttl 8h --within 203.0.113.0/24
  ipgate token create laptop --scope self --max-ttl 12h > laptop-token
`,
    )
    .action(async (name: string, options: CreateOptions) => {
      const request = requestOf(name, options, env.process.clock.wall())
      const { token, secret } = await env.withTokens((tokens) => tokens.create(request))
      if (env.out.isJson) {
        env.out.json(newTokenToJson(token, secret))
        return
      }
      // Not a line that --quiet swallows: nobody can ask for it again.
      env.process.write(`${secret}\n`)
      env.out.remark(
        `made the token ${name} (${token.scope}), good until ${token.expiresAt === null ? "it is revoked" : shortTime(token.expiresAt)}\n` +
          "  its secret is not shown again: keep it in a file of mode 0600, for --token-file",
      )
    })
}

function listCommand(env: CommandEnv): Command {
  return new Command("list")
    .summary("list the named tokens")
    .description("List the named tokens, also those that have ended. No secret is in the list.")
    .addHelpText(
      "before",
      `Examples:
  ipgate token list
  ipgate token list --json
`,
    )
    .action(async () => {
      const { rows: tokens } = await env.withTokens((registry) => wholeList(tokenList(registry)))
      if (env.out.isJson) {
        env.out.json(tokens.map(tokenToJson))
        return
      }
      const now = env.process.clock.wall()
      env.out.table(
        ["NAME", "SCOPE", "MAX TTL", "WITHIN", "STATE", "EXPIRES", "LAST USED"],
        tokens.map((token) => [
          token.name,
          token.scope,
          token.maxTtlSeconds === null ? "-" : formatDuration(token.maxTtlSeconds),
          token.within ?? "-",
          token.state,
          token.expiresAt === null ? "-" : shortTime(token.expiresAt),
          token.lastUsedAt === null ? "never" : ago(token.lastUsedAt, now),
        ]),
      )
    })
}

function revokeCommand(env: CommandEnv): Command {
  return new Command("revoke")
    .summary("revoke a token, for good")
    .description(
      "Revoke a token. The very next request with it is refused, and streams that it has open end.",
    )
    .argument("<name>", "the name of the token")
    .addHelpText(
      "before",
      `Examples:
  ipgate token revoke helpdesk
  ipgate token revoke ci --json
`,
    )
    .action(async (name: string) => {
      const result = await env.withTokens((tokens) => tokens.revoke(name))
      const changed = result === "revoked"
      if (env.out.isJson) env.out.json({ name, result, changed })
      else if (result === "absent") env.out.error(`there is no token of the name ${quoted(name)}`)
      else env.out.line(changed ? `revoked the token ${name}` : `the token ${name} was revoked before`)
      if (result === "absent") env.exitWith(EXIT.failed)
    })
}

function requestOf(
  name: string,
  { scope, maxTtl, within, expires }: CreateOptions,
  now: number,
): TokenRequest {
  const network = within === undefined ? null : Network.parse(within)
  if (within !== undefined && network === null) throw new UsageError(explainNetwork(within))
  const request: TokenRequest = {
    name,
    scope,
    maxTtlSeconds: maxTtl === undefined ? null : readTtl(maxTtl),
    within: network,
    lifetimeSeconds: expires === undefined ? null : readLifetime(expires, now),
  }
  const fault = explainToken(request)
  if (fault !== null) throw new UsageError(fault, hintFor(request))
  return request
}

function hintFor({ scope, maxTtlSeconds }: TokenRequest): string | undefined {
  const needsLimit = maxTtlSeconds === null && (scope === "temp-only" || scope === "self")
  return needsLimit ? "add --max-ttl, such as --max-ttl 8h" : undefined
}

/** Seconds of a `--expires`: a duration, or a time. */
function readLifetime(text: string, now: number): number {
  return parseDuration(text) === null ? readUntil(text, now, "--expires") : readTtl(text)
}
