// The site behind the proxies: a page, an echo over WebSockets, and a record of every request that came through.

export const PAGE = "the protected page"

export type Reached = { readonly method: string; readonly path: string; readonly body: string }

export type Site = {
  /** `127.0.0.1:PORT` */
  readonly address: string
  /** What has come through since it was last emptied. */
  readonly reached: Reached[]
  stop(): Promise<void>
}

export function startSite(): Site {
  const reached: Reached[] = []
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request, server) => {
      const path = new URL(request.url).pathname
      if (server.upgrade(request)) {
        reached.push({ method: "GET", path, body: "" })
        return undefined
      }
      reached.push({ method: request.method, path, body: await request.text() })
      return new Response(PAGE)
    },
    websocket: {
      message: (socket, message) => {
        socket.send(message)
      },
    },
  })
  return { address: `127.0.0.1:${server.port}`, reached, stop: () => server.stop(true) }
}
