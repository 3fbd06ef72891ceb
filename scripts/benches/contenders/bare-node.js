// The least that Node can do for a request: a handler that answers 204 to everything. Prints its port.

import { createServer } from "node:http"

const server = createServer((_, answer) => {
  answer.writeHead(204)
  answer.end()
})
server.keepAliveTimeout = 120_000
server.listen(0, "127.0.0.1", () => console.log(server.address().port))
