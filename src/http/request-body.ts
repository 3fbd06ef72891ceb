// The body of an API request, bounded: nobody makes the server hold more than an endpoint can use.

import { BoundedBytes } from "../core/bounded-bytes.ts"
import type { Credential } from "../core/credential.ts"
import { invalid } from "../core/errors.ts"
import { othersFirst } from "../core/others-first.ts"
import { parseJsonObject } from "../wire/json-body.ts"
import { TokenEnded } from "./until-token-ends.ts"

/** Bytes of a JSON body. */
export const LARGEST_BODY = 64 * 1024

/** The body is longer than the endpoint takes: 413. */
export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge"

  constructor(most: number) {
    super(`the body is larger than ${most} bytes`)
  }
}

/** A request with the token that it has shown. */
export type AuthorizedRequest = { readonly request: Request; readonly credential: Credential }

/**
 * Throws `BodyTooLarge` as soon as more than `most` bytes are announced or have come, and `invalid` if the connection
 * ends before the body does: nobody is left to be answered then, and nothing is wrong with the server. A body can take
 * as long as its sender wants, so it is worth nothing (`TokenEnded`) if the token has ended meanwhile.
 */
export async function readBody(
  { request, credential }: AuthorizedRequest,
  most: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const announced = request.headers.get("Content-Length")
  if (announced !== null && Number(announced) > most) throw new BodyTooLarge(most)
  let body: Uint8Array<ArrayBuffer>
  try {
    // A body of announced length cannot be longer than that; a chunked one is counted as it comes.
    body = announced !== null ? new Uint8Array(await request.arrayBuffer()) : await readChunks(request, most)
  } catch (cause) {
    if (request.signal.aborted) throw invalid("the connection ended before the body was complete")
    throw cause
  }
  if (!credential.counts) throw new TokenEnded()
  return body
}

async function readChunks(request: Request, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const held = new BoundedBytes(most)
  for await (const piece of request.body ?? []) {
    if (!held.add(piece)) throw new BodyTooLarge(most)
  }
  // Bun hands over the last piece before it looks at what follows. For a trailer, which it does not take, or for noise it
  // closes the connection with a 400, which is known a turn later; whoever gets that must find nothing changed.
  await othersFirst()
  request.signal.throwIfAborted()
  return held.bytes()
}

/** Rejects as `readBody` does, and with `invalid` for anything but one JSON object. The content type does not matter. */
export function readJsonBody(authorized: AuthorizedRequest): Promise<Readonly<Record<string, unknown>>> {
  return readBody(authorized, LARGEST_BODY).then(jsonObjectIn)
}

function jsonObjectIn(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return parseJsonObject(bytes)
  } catch (cause) {
    if (cause instanceof SyntaxError) throw invalid(cause.message)
    throw cause
  }
}
