// The named tokens over HTTP: the same contract, asked of a running server.

import type { Page } from "../core/page.ts"
import type { Token, TokenRegistry, TokenRequest } from "../core/token.ts"
import * as answers from "../wire/answers.ts"
import { RESULT_HEADER, TOKENS_PATH, tokenPath } from "../wire/paths.ts"
import { newTokenFromJson, tokenFromJson, tokenRequestToJson } from "../wire/tokens.ts"
import { AuthorizedRequests, json, type Send, succeeded } from "./authorized-requests.ts"

export class RemoteTokens implements TokenRegistry {
  private readonly api: AuthorizedRequests

  constructor(send: Send, token: () => string) {
    this.api = new AuthorizedRequests(send, token)
  }

  async create(request: TokenRequest): Promise<{ token: Token; secret: string }> {
    return newTokenFromJson(await json(await this.api.post(TOKENS_PATH, tokenRequestToJson(request))))
  }

  async list({ limit, offset }: Page): Promise<Token[]> {
    const query = new URLSearchParams({ limit: String(limit), offset: String(offset) })
    return answers.list(await this.api.get(TOKENS_PATH, query)).map(tokenFromJson)
  }

  async revoke(name: string): Promise<"revoked" | "unchanged" | "absent"> {
    const answer = await this.api.answer(tokenPath(name), { method: "DELETE" })
    // Told by the header, because a server that knows no tokens answers 404 too.
    const result = answer.headers.get(RESULT_HEADER)
    if (result === "absent") return "absent"
    await succeeded(answer)
    return result === "unchanged" ? "unchanged" : "revoked"
  }
}
