// The least that a gate can do for a request in Bun: read the one header, and answer that nobody may store the answer.
// Prints its port.

export {}

const ALLOWED = new Response(null, { status: 204, headers: { "Cache-Control": "no-store" } })
const DENIED = new Response(null, { status: 401, headers: { "Cache-Control": "no-store" } })

const { port } = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  development: false,
  routes: {
    "/auth": (request) => (request.headers.get("X-Real-IP") === null ? DENIED : ALLOWED).clone() as Response,
  },
  fetch: () => new Response(null, { status: 404 }),
})
console.log(port)
