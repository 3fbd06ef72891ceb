// How much disk the database takes, asked without waiting for a disk that does not answer.

import { stat } from "node:fs/promises"

/** Milliseconds that a disk gets to tell a size. A scrape without it is better than none. */
const SIZE_TIME = 1_000

/** Bytes of a database file and its write-ahead log; `null` if the disk does not tell, or not in a second. */
export async function databaseSize(path: string): Promise<number | null> {
  const sizeOf = (file: string) => stat(file).then(({ size }) => size)
  const whole = Promise.all([sizeOf(path), sizeOf(`${path}-wal`).catch(() => 0)]).then(([a, b]) => a + b)
  const late = new Promise<null>((resolve) => {
    setTimeout(resolve, SIZE_TIME, null).unref()
  })
  return Promise.race([whole, late]).catch(() => null)
}
