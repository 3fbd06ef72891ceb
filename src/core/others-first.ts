// Where work has piled up in the thread that decides, the questions that have come meanwhile go first.

/** Fulfilled after one turn of the event loop, in which everything that has arrived is answered. */
export function othersFirst(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
