// The least that Bun can do for a request: a handler that answers 204 to everything. Prints its port.

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  development: false,
  fetch: () => new Response(null, { status: 204 }),
})
console.log(server.port)
