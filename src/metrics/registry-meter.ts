// The meter whose readings Prometheus collects.

import { Counter, Histogram, type Registry } from "@prometheus-io/client"
import type { Meter } from "../meter.ts"

/** Seconds. A decision is a few microseconds; what lies above a millisecond is a stall. */
const DECISION_BUCKETS = [1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 1e-3, 1e-2, 1e-1]
/** Seconds, from a quick disk to the time limit of the database. */
const WRITE_BUCKETS = [2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 0.1, 0.25, 1, 5]
const REQUEST_BUCKETS = [5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 0.1, 0.25, 1, 5, 30]

/** The methods that are told apart: a client can send any word, and each would be a time series of its own. */
const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

/** A meter that writes into this registry. */
export function registryMeter(registry: Registry): Meter {
  const registers = [registry]
  const decisions = new Histogram({
    name: "ipgate_auth_duration_seconds",
    help: "Time of a decision, from the request's headers to yes or no; one of 64 decisions is timed",
    buckets: DECISION_BUCKETS,
    registers,
  })
  const requests = new Counter({
    name: "ipgate_http_requests_total",
    help: "Requests that are no decisions, by route template, method and status",
    labelNames: ["route", "method", "code"],
    registers,
  })
  const durations = new Histogram({
    name: "ipgate_http_request_duration_seconds",
    help: "Time until the answer's headers of requests that are no decisions",
    labelNames: ["route"],
    buckets: REQUEST_BUCKETS,
    registers,
  })
  const commits = new Histogram({
    name: "ipgate_commit_duration_seconds",
    help: "Time of a transaction until it was durable; changes that wait share one",
    buckets: WRITE_BUCKETS,
    registers,
  })
  const written = new Counter({
    name: "ipgate_commit_changes_total",
    help: "Changes in these transactions, with those that had no effect",
    registers,
  })
  const failures = new Counter({
    name: "ipgate_commit_failures_total",
    help: "Transactions that failed: every change in them was answered with an error",
    registers,
  })
  return {
    decision: (seconds) => decisions.observe(seconds),
    request: (route, method, status, seconds) => {
      requests.inc({ route, method: METHODS.includes(method) ? method : "other", code: String(status) })
      durations.observe({ route }, seconds)
    },
    commit: (seconds, changes) => {
      commits.observe(seconds)
      written.inc(changes)
    },
    commitFailed: () => failures.inc(),
  }
}
