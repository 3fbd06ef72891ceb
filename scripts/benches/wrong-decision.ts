// One question to /auth, with the patience of the bench.

/** Milliseconds. */
const PATIENCE = 10_000

/** What is wrong with the answer to this client, or `null`. A redirection is an answer, and is not followed. */
export async function wrongDecision(url: string, client: string, expected: number): Promise<string | null> {
  try {
    const { status } = await fetch(`${url}/auth`, {
      headers: { "X-Real-IP": client },
      redirect: "manual",
      signal: AbortSignal.timeout(PATIENCE),
    })
    return status === expected ? null : `${client} gets ${status} in place of ${expected}`
  } catch (error) {
    return `${client} gets no answer: ${(error as Error).message}`
  }
}
