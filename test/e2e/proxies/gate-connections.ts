// Which connections to a listener there are, as the kernel knows them.

import { readFileSync } from "node:fs"
import type { ListenAddress } from "../../../src/listen-address.ts"

const LISTENING = "0A"
const CONNECTED = "03"

/** A name for each connection: the port of the other end, or the inode of the server's end of a unix socket. */
export function connectionsTo(address: ListenAddress): Set<string> {
  return new Set(address.kind === "tcp" ? overTcp(address) : overSocket(address.path))
}

// By the whole address: a client on 127.0.0.2 may get the same port as a listener on 127.0.0.1.
function overTcp({ hostname, port }: ListenAddress & { kind: "tcp" }): string[] {
  const hex = (number: number, digits: number) => number.toString(16).toUpperCase().padStart(digits, "0")
  const bytes = hostname.split(".").toReversed()
  const gate = `${bytes.map((byte) => hex(Number(byte), 2)).join("")}:${hex(port, 4)}`
  const portOf = (end: string) => String(Number.parseInt(end.split(":")[1] ?? "", 16))
  return rows("/proc/net/tcp").flatMap(([, local = "", remote = "", state]) => {
    if (state === LISTENING) return []
    return local === gate ? [portOf(remote)] : remote === gate ? [portOf(local)] : []
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
