// Runs a program to its end, for what a release needs from Debian, git and Bun.

export type RunOptions = { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> }

/** What it printed. Throws with its standard error if it fails. */
export async function run(command: readonly string[], { cwd, env }: RunOptions = {}): Promise<string> {
  const child = Bun.spawn([...command], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0) {
    throw new Error(`${command.join(" ")}: ended with ${child.exitCode}\n${stdout}${stderr}`)
  }
  return stdout
}
