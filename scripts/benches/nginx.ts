// nginx with one worker on the server's core: deciding by its own table, or serving a page with and without a check.

import { existsSync, mkdirSync } from "node:fs"
import { freePort } from "../../test/support/free-port.ts"
import { fate, type Mortal, mortal } from "./fate.ts"
import type { Lab } from "./lab.ts"
import { childrenOf } from "./process-figures.ts"

/** `exited` is the end of the master, which starts another worker in place of one that has ended. */
export type Nginx = Mortal & { readonly url: string; readonly worker: number; stop(): Promise<void> }

/** `http` is what stands in the http block beside the server; `server` is the inside of the server. */
export async function startNginx(lab: Lab, http: string, server: string): Promise<Nginx> {
  const { nginx } = lab.programs
  if (nginx === null) throw new Error("nginx is not installed")
  const port = await freePort()
  const prefix = lab.path(`nginx-${port}`)
  mkdirSync(prefix)
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${prefix}/${name};`)
    .join(" ")
  await Bun.write(
    `${prefix}/nginx.conf`,
    `daemon off; worker_processes 1; pid ${prefix}/nginx.pid; ${process.getuid?.() === 0 ? "user root;" : ""}
     events { worker_connections 1024; }
     http {
       access_log off; keepalive_requests 1000000000; keepalive_timeout 120s; sendfile on; ${temporary}
       ${http}
       server { listen 127.0.0.1:${port}; ${server} }
     }`,
  )
  const child = lab.start([
    ...lab.cores.server,
    ...[nginx, "-p", prefix, "-c", `${prefix}/nginx.conf`, "-e", `${prefix}/error.log`],
  ])
  // The file with its id is written when every address is bound, and the worker comes right after it.
  const runs = () => child.exitCode === null && child.signalCode === null
  while (runs() && !(existsSync(`${prefix}/nginx.pid`) && childrenOf(child.pid).length > 0)) {
    await Bun.sleep(10)
  }
  const { exited, said: saidItself } = mortal(child)
  // Before it has read its configuration it writes to its standard error, and then, or as well, to its file.
  const said = async () => {
    const log = Bun.file(`${prefix}/error.log`)
    return (await saidItself()) + ((await log.exists()) ? await log.text() : "")
  }
  const worker = runs() ? childrenOf(child.pid)[0] : undefined
  if (worker === undefined) throw new Error(`nginx does not start: ${await fate({ exited, said })}`)
  return {
    url: `http://127.0.0.1:${port}`,
    worker,
    exited,
    said,
    stop: async () => {
      child.kill("SIGTERM")
      await child.exited
    },
  }
}

/** Decides by its own table, from the same header and with the same answers as ipgate. */
export function startGeo(lab: Lab, table: string): Promise<Nginx> {
  return startNginx(
    lab,
    `geo $http_x_real_ip $allowed { default 0; include ${table}; }`,
    "location = /auth { if ($allowed) { return 204; } return 401; }",
  )
}

/** A static page; with `gate` behind the check of the published configuration, the client being named by the load. */
export async function startSite(lab: Lab, gate: string | null): Promise<Nginx> {
  const root = lab.path("site")
  mkdirSync(root, { recursive: true })
  await Bun.write(`${root}/auth`, "the protected page\n".repeat(50))
  if (gate === null) return startNginx(lab, "", `root ${root};`)
  // Everything as in docs/nginx.conf but for the header: here the load says who the client is.
  return startNginx(
    lab,
    `upstream ipgate { server ${gate}; keepalive 32; keepalive_requests 1000000000; }`,
    `location / { auth_request /_ipgate; root ${root}; }
     location = /_ipgate {
       internal;
       proxy_pass http://ipgate/auth;
       proxy_http_version 1.1;
       proxy_set_header Connection "";
       proxy_set_header X-Real-IP $http_x_real_ip;
       proxy_pass_request_headers off;
       proxy_pass_request_body off;
       proxy_set_header Content-Length "";
     }`,
  )
}
