// What became of a process that the bench had trouble with: whoever reads of the trouble should not have to search.

/** Milliseconds in which the end of a process that is gone becomes known here. */
const SETTLE = 200
/** A log may be long, and its end tells why. */
const LAST = 2_000

export type Mortal = {
  /** The exit code, or 128 and the number of a signal. */
  readonly exited: Promise<number>
  /** All that it has said of its troubles; asked for when it has ended. */
  readonly said: () => string | Promise<string>
}

/** A process whose standard error nobody else reads. */
export function mortal({
  exited,
  stderr,
}: Bun.Subprocess<Bun.Spawn.Writable, Bun.Spawn.Readable, "pipe">): Mortal {
  let words: Promise<string> | null = null
  return {
    exited,
    said: () => {
      words ??= new Response(stderr).text()
      return words
    },
  }
}

/** For the end of a sentence that names the process. */
export async function fate({ exited, said }: Mortal): Promise<string> {
  const code = await Promise.race([exited, Bun.sleep(SETTLE).then(() => null)])
  if (code === null) return "it still runs"
  const words = (await said()).trim().slice(-LAST)
  return `it ended with ${code} and said${words === "" ? " nothing" : `:\n${words}`}`
}
