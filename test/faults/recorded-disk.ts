// What a process wrote, from the trace of its system calls, and what a disk may hold of it after a power cut.

import type { Prng } from "../support/prng.ts"

/** A call of a process in the order of its trace; `file` is the index in the list of the files that are asked for. */
export type Call =
  | { readonly kind: "write"; readonly file: number; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: "cut"; readonly file: number; readonly size: number }
  | { readonly kind: "sync"; readonly file: number }
  | { readonly kind: "answer" }

/** What strace has to be told, besides where to write. */
export const RECORD = [
  "-y",
  "-xx",
  "-s",
  "70000",
  "-e",
  "trace=pwrite64,ftruncate,fsync,fdatasync,sendto,sendmsg,write,writev,pwritev,copy_file_range,fallocate",
]

const hex = (text: string) =>
  [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")
const bytesOf = (text: string) => Uint8Array.fromHex(text.replaceAll("\\x", ""))

const ANSWER = hex("HTTP/1.1 204")

/** The calls of a trace on these files, and the answers with 204. Throws for one on the files that is not understood. */
export function callsIn(trace: string, paths: readonly string[]): Call[] {
  const files = paths.map((path) => `<${hex(path)}>`)
  const calls: Call[] = []
  /** Which file a thread waits for, of a sync whose end is told on a later line. */
  const syncing = new Map<string, number>()
  for (const line of trace.split("\n")) {
    const [, thread = "", rest = ""] = /^([0-9]+) +(.*)$/.exec(line) ?? []
    if (rest.startsWith("send") || rest.startsWith("write")) {
      if (rest.includes(ANSWER)) calls.push({ kind: "answer" })
      if (!files.some((name) => rest.includes(name))) continue
    }
    if (/^<\.\.\. f(data)?sync resumed>/.test(rest)) {
      const file = syncing.get(thread)
      if (file !== undefined && rest.endsWith("= 0")) calls.push({ kind: "sync", file })
      syncing.delete(thread)
      continue
    }
    const file = files.findIndex((name) => rest.includes(name))
    if (file === -1) continue
    const write = /^pwrite64\([^,]*, "([^"]*)", ([0-9]+), ([0-9]+)/.exec(rest)
    const cut = /^ftruncate\([^,]*, ([0-9]+)/.exec(rest)
    if (write !== null) {
      const bytes = bytesOf(write[1] ?? "")
      if (bytes.length !== Number(write[2])) throw new Error("the trace has only a part of what was written")
      calls.push({ kind: "write", file, at: Number(write[3]), bytes })
    } else if (cut !== null) {
      calls.push({ kind: "cut", file, size: Number(cut[1]) })
    } else if (/^f(data)?sync\(/.test(rest)) {
      if (rest.endsWith("<unfinished ...>")) syncing.set(thread, file)
      else if (rest.endsWith("= 0")) calls.push({ kind: "sync", file })
    } else {
      throw new Error(`a call that is not understood: ${rest.slice(0, 40)}`)
    }
  }
  return calls
}

type Unsynced = Extract<Call, { kind: "write" | "cut" }>

const SECTOR = 512

/** One file on a disk whose cache is lost at a power cut. */
export class RecordedFile {
  private readonly unsynced: Unsynced[] = []

  constructor(private synced: Uint8Array<ArrayBuffer>) {}

  take(call: Unsynced): void {
    this.unsynced.push(call)
  }

  sync(): void {
    this.synced = this.image(() => true)
    this.unsynced.length = 0
  }

  /** The file after a power cut, of which `reached` tells for each sector, or for the whole of a cut, whether it is on the disk. */
  image(reached: () => boolean): Uint8Array<ArrayBuffer> {
    let bytes = this.synced.slice()
    for (const call of this.unsynced) {
      if (call.kind === "cut") {
        if (reached()) bytes = resized(bytes, call.size)
        continue
      }
      for (let from = 0; from < call.bytes.length; ) {
        // Sectors lie at multiples of their size in the file, wherever a write begins.
        const to = Math.min(from + SECTOR - ((call.at + from) % SECTOR), call.bytes.length)
        if (reached()) {
          if (bytes.length < call.at + to) bytes = resized(bytes, call.at + to)
          bytes.set(call.bytes.subarray(from, to), call.at + from)
        }
        from = to
      }
    }
    return bytes
  }
}

/** Tells by chance, at a rate that is one of the next whole image: nothing, a little, half, most, or everything. */
export function byChance(random: Prng): () => boolean {
  const rate = random.pick([0, 10, 50, 90, 100])
  return () => random.below(100) < rate
}

function resized(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const grown = new Uint8Array(size)
  grown.set(bytes.subarray(0, size))
  return grown
}
