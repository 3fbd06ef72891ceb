// Where a server listens: what is an address of that kind, and which of them other machines can reach.

import { describe, expect, test } from "bun:test"
import {
  formatListenAddress,
  isLocal,
  type ListenAddress,
  parseListenAddress,
} from "../../src/listen-address.ts"

const tcp = (hostname: string, port: number): ListenAddress => ({ kind: "tcp", hostname, port })
const unix = (path: string): ListenAddress => ({ kind: "unix", path })

const GOOD: ReadonlyArray<readonly [text: string, address: ListenAddress, local: boolean]> = [
  ["127.0.0.1:8765", tcp("127.0.0.1", 8765), true],
  ["127.255.0.9:1", tcp("127.255.0.9", 1), true],
  ["localhost:0", tcp("localhost", 0), true],
  ["[::1]:65535", tcp("::1", 65535), true],
  ["[0:0:0:0:0:0:0:1]:1", tcp("0:0:0:0:0:0:0:1", 1), true],
  ["[::ffff:127.0.0.1]:1", tcp("::ffff:127.0.0.1", 1), true],
  ["unix:/run/ipgate.sock", unix("/run/ipgate.sock"), true],
  ["unix:/run/with space:1", unix("/run/with space:1"), true],
  ["0.0.0.0:8765", tcp("0.0.0.0", 8765), false],
  ["[::]:8765", tcp("::", 8765), false],
  ["[::ffff:0.0.0.0]:1", tcp("::ffff:0.0.0.0", 1), false],
  ["192.0.2.1:80", tcp("192.0.2.1", 80), false],
  ["126.255.255.255:80", tcp("126.255.255.255", 80), false],
  ["128.0.0.0:80", tcp("128.0.0.0", 80), false],
  ["[2001:db8::1]:80", tcp("2001:db8::1", 80), false],
  ["[::2]:80", tcp("::2", 80), false],
  ["[::7f00:1]:80", tcp("::7f00:1", 80), false],
]

describe("an address", () => {
  test.each(GOOD)("%s", (text, address, local) => {
    expect(parseListenAddress(text)).toEqual(address)
    expect(formatListenAddress(address)).toBe(text)
    expect(isLocal(address)).toBe(local)
  })

  test("of a name other than localhost is never taken for this machine", () => {
    expect(isLocal(tcp("LOCALHOST.example", 1))).toBe(false)
    expect(isLocal(tcp("127.0.0.1.example", 1))).toBe(false)
    expect(isLocal(tcp("", 1))).toBe(false)
  })
})

describe("none", () => {
  test.each([
    "",
    ":",
    "8765",
    ":8765",
    "127.0.0.1",
    "127.0.0.1:",
    "127.0.0.1:x",
    "127.0.0.1:-1",
    "127.0.0.1:+1",
    "127.0.0.1:1.0",
    "127.0.0.1:0x50",
    "127.0.0.1:65536",
    "127.0.0.1:99999",
    "127.0.0.1:000080",
    "127.0.0.1:80 ",
    " 127.0.0.1:80",
    "127.0.0.1 :80",
    "127.0.0.1:80\n",
    "127.0.0.1:80/",
    "http://127.0.0.1:80",
    "127.0.0.1:80:81",
    "127.1:80",
    "0127.0.0.1:80",
    "0x7f.0.0.1:80",
    "2130706433:80",
    "256.0.0.1:80",
    "[127.0.0.1:80",
    "::1:80",
    "[::1]",
    "[::1]80",
    "[::1%lo]:80",
    "[::1]:65536",
    "[localhost]:80",
    "[]:80",
    "[:::1]:80",
    "example.com:80",
    "LOCALHOST:80",
    "localhost.:80",
    "*:80",
    "0.0.0.0/0:80",
    "unix:",
    "unix:run/ipgate.sock",
    "unix:./ipgate.sock",
    "UNIX:/run/ipgate.sock",
    "/run/ipgate.sock",
    "127.0.0.1:８０",
  ])("%j", (text) => {
    expect(parseListenAddress(text)).toBeNull()
  })
})
