// A port that nobody has.

import { createServer } from "node:net"

/** Somebody else may take the port before it is used: whoever listens on it has to say so. */
export async function freePort(hostname = "127.0.0.1"): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(0, hostname, resolve)
  })
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (typeof address !== "object" || address === null) throw new Error("no port")
  return address.port
}
