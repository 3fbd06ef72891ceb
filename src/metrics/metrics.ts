// All metrics of a server, in one registry. Loaded only by a server that is asked for them.

import { Registry } from "@prometheus-io/client"
import type { Exposition } from "../http/metrics-routes.ts"
import type { Meter } from "../meter.ts"
import { type GateReadings, registerGateMetrics } from "./gate-metrics.ts"
import { registerProcessMetrics } from "./process-metrics.ts"
import { registryMeter } from "./registry-meter.ts"

export type Metrics = {
  readonly meter: Meter
  /** What is read at a scrape; the lists are there only after the meter has been handed out. */
  expose(readings: GateReadings): Exposition
}

/** `startedAt` is when the process began, in milliseconds since 1970. */
export function createMetrics(startedAt: number): Metrics {
  const registry = new Registry()
  const meter = registryMeter(registry)
  return {
    meter,
    expose: (readings) => {
      registerGateMetrics(registry, readings)
      registerProcessMetrics(registry, startedAt)
      return { contentType: registry.contentType, text: () => registry.metrics() }
    },
  }
}
