// What the listener of Prometheus answers. An address of its own, so that no proxy that is pointed at the wrong path
// finds an answer there that it takes for "let in".

import type { Log } from "../log/log.ts"
import { guarded } from "./guard.ts"
import { exposition, internalError, methodNotAllowed, text } from "./responses.ts"
import type { Routes } from "./routes.ts"

export const METRICS_PATH = "/metrics"

/** All metrics as text, in the format that `contentType` names. */
export type Exposition = { readonly contentType: string; text(): Promise<string> }

/** `GET /metrics`, and 404 for everything else: no decision is made here. */
export function metricsRoutes(source: Exposition, log: Log): Routes {
  const failed = (cause: unknown) => {
    log.error("the metrics could not be collected", { cause })
    return internalError()
  }
  const metrics = async ({ method }: Request) =>
    method === "GET" || method === "HEAD"
      ? exposition(source.contentType, await source.text())
      : methodNotAllowed("GET, HEAD")
  return {
    paths: { [METRICS_PATH]: guarded(metrics, failed) },
    notFound: guarded(() => text(404, "not found"), failed),
    trustsLoopback: false,
  }
}
