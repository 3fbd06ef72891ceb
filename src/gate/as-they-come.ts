// Pieces that are pushed, for somebody who pulls.

/**
 * Starts `produce` and yields what it pushes, in order. Ends when its promise is fulfilled, and throws when it
 * rejects. What is not pulled yet is kept.
 */
export async function* asTheyCome<T>(
  produce: (push: (piece: T) => void) => Promise<void>,
): AsyncGenerator<T> {
  const pieces: T[] = []
  let wake = Promise.withResolvers<void>()
  let finished = false
  const produced = produce((piece) => {
    pieces.push(piece)
    wake.resolve()
  }).finally(() => {
    finished = true
    wake.resolve()
  })
  produced.catch(() => {}) // told to the puller below, not to the process
  for (;;) {
    const piece = pieces.shift()
    if (piece !== undefined) {
      yield piece
    } else if (finished) {
      return produced
    } else {
      await wake.promise
      wake = Promise.withResolvers()
    }
  }
}
