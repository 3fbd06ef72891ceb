// The body of an API request: bounded, and one JSON object.

import { invalid } from "../core/errors.ts"
import { parseJsonObject } from "../wire/json-body.ts"

export const LARGEST_BODY = 64 * 1024

/** The body is longer than the API takes: 413. */
export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge"

  constructor() {
    super(`the body is larger than ${LARGEST_BODY} bytes`)
  }
}

/** Throws `BodyTooLarge`, or `invalid` for anything but one JSON object. The content type does not matter. */
export async function readJsonBody(request: Request): Promise<Readonly<Record<string, unknown>>> {
  if (Number(request.headers.get("Content-Length") ?? 0) > LARGEST_BODY) throw new BodyTooLarge()
  const bytes = await request.bytes()
  if (bytes.length > LARGEST_BODY) throw new BodyTooLarge()
  try {
    return parseJsonObject(bytes)
  } catch (cause) {
    if (cause instanceof SyntaxError) throw invalid(cause.message)
    throw cause
  }
}
