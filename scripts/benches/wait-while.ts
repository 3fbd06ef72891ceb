// Patience that is counted in steps.

/** Milliseconds. */
const STEP = 5

/**
 * Waits while it is so, for at most `patience` milliseconds of its own: if the whole machine stands still meanwhile, that
 * is one step, and whoever was waited for has as much time as ever.
 */
export async function waitWhile(isSo: () => boolean, patience: number): Promise<void> {
  for (let waited = 0; waited < patience && isSo(); waited += STEP) await Bun.sleep(STEP)
}
