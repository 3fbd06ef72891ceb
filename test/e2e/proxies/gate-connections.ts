// Which connections to a listener there are, as the kernel knows them.

import { readFileSync } from "node:fs"
import type { ListenAddress } from "../../../src/listen-address.ts"

const LISTENING = "0A"
const CONNECTED = "03"

/** A name for each connection: the port of the other end, or the inode of the server's end of a unix socket. */
export function connectionsTo(address: ListenAddress): Set<string> {
  return new Set(address.kind === "tcp" ? overTcp(address.port) : overSocket(address.path))
}

function overTcp(port: number): string[] {
  return rows("/proc/net/tcp").flatMap(([, local = "", remote = "", state]) => {
    const [near, far] = [local, remote].map((end) => Number.parseInt(end.split(":")[1] ?? "", 16))
    if (state === LISTENING) return []
    return near === port ? [String(far)] : far === port ? [String(near)] : []
  })
}

function overSocket(path: string): string[] {
  return rows("/proc/net/unix").flatMap(([, , , , , state, inode = "", name]) =>
    name === path && state === CONNECTED ? [inode] : [],
  )
}

function rows(file: string): string[][] {
  const lines = readFileSync(file, "utf8").trim().split("\n").slice(1)
  return lines.map((line) => line.trim().split(/\s+/))
}
