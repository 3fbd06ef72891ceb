// The health of the service, as /status tells it.

export type Status = {
  /** `ok`, or `degraded` while the database does not work: decisions go on, changes fail. */
  readonly status: "ok" | "degraded"
  /** The running time as a duration string: `3d4h12m5s`. */
  readonly uptime: string
  readonly permanentCount: number
  readonly temporaryCount: number
  readonly databaseOk: boolean
}
