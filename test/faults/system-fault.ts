// System calls that fail, or come late, for a running server, by strace: only those that are about its database.

/**
 * `calls` as strace takes them, with commas between; `error` is a name such as EIO, `delay` seconds by which they return
 * late; `once` spares all but the first.
 */
export type SystemFault = { readonly calls: string; readonly once?: boolean } & (
  | { readonly error: string }
  | { readonly delay: number }
)

/** Milliseconds that strace gets to let go. */
const PATIENCE = 5_000

/**
 * Lets the calls of a process on its database and the log beside it fail or be late while `work` runs. Everything else of the
 * process goes on as before. Rejects if there is no strace, or if it may not look into the process.
 */
export async function withSystemFault<T>(
  pid: number,
  database: string,
  { calls, once = false, ...how }: SystemFault,
  work: () => Promise<T>,
): Promise<T> {
  const injected = "error" in how ? `error=${how.error}` : `delay_exit=${how.delay * 1e6}`
  const paths = [database, `${database}-wal`].flatMap((path) => ["-P", path])
  return traced(
    pid,
    [
      "-o",
      "/dev/null",
      ...paths,
      "-e",
      `trace=${calls}`,
      "-e",
      `inject=${calls}:${injected}${once ? ":when=1" : ""}`,
    ],
    work,
  )
}

/** Traces a process by strace with these arguments while `work` runs. Rejects if it may not look into the process. */
export async function traced<T>(pid: number, args: readonly string[], work: () => Promise<T>): Promise<T> {
  const child = Bun.spawn(["strace", "-f", "-qq", ...args, "-p", String(pid)], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  })
  try {
    await attached(pid, child)
    return await work()
  } finally {
    // It lets go of the process, which goes on with calls that succeed. One that ends in the middle of a late call is
    // not noticed by strace 6.1, which then waits for ever.
    child.kill("SIGTERM")
    const patience = setTimeout(() => child.kill("SIGKILL"), PATIENCE)
    await child.exited
    clearTimeout(patience)
  }
}

/** Fulfilled when every thread is traced, of which strace itself says nothing while it is quiet. */
async function attached(pid: number, strace: Bun.Subprocess<"ignore", "ignore", "pipe">): Promise<void> {
  const tracer = String(strace.pid)
  for (;;) {
    if (strace.exitCode !== null) throw new Error(`strace: ${await new Response(strace.stderr).text()}`)
    const { stdout } = Bun.spawnSync(["sh", "-c", `cat /proc/${pid}/task/*/status | grep TracerPid`])
    const tracers = [...stdout.toString().matchAll(/TracerPid:\s+([0-9]+)/g)].map(([, id]) => id)
    if (tracers.length > 0 && tracers.every((id) => id === tracer)) return
    await Bun.sleep(5)
  }
}
