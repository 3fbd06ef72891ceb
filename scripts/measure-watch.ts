// Measures `ipgate watch` with 10,000 active entries: processor time at rest, and how soon a key is answered.
//
// After `bun run build`: bun scripts/measure-watch.ts [entries]

import { readFileSync } from "node:fs"
import { builtBinary, TOKEN, Workplace } from "../test/support/binary.ts"

const ENTRIES = Number(process.argv[2] ?? 10_000)
const REST_SECONDS = 10
const KEYS = 200
/** Ticks of the kernel's clock in a second; the same on every Linux that Bun runs on. */
const TICKS = 100
/** The end of a drawing, by which a terminal knows that it may show all of it at once. */
const DRAWN = "\x1b[?2026l"

await using place = await Workplace.make()
const server = await place.serve()
const lines = Array.from(
  { length: ENTRIES },
  (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}\t21600\tmeasured`,
)
const imported = await fetch(`${server.url}/api/whitelist/import`, {
  method: "POST",
  headers: { Authorization: `Bearer ${TOKEN}` },
  body: lines.join("\n"),
})
if (!imported.ok) throw new Error(await imported.text())

let written = ""
let wake = () => {}
const watch = Bun.spawn([builtBinary(), "watch"], {
  env: { ...place.env, IPGATE_SERVER: new URL(server.url).host, TERM: "xterm-256color" },
  terminal: {
    cols: 120,
    rows: 40,
    data: (_, bytes) => {
      written += new TextDecoder().decode(bytes)
      wake()
    },
  },
})

await until(() => written.includes("measured"))
await Bun.sleep(2_000)
const start = processorTime()
await Bun.sleep(REST_SECONDS * 1000)
const atRest = (processorTime() - start) / REST_SECONDS

const times: number[] = []
for (let i = 0; i < KEYS; i++) {
  // Not in step with the seconds of the screen, so that a key may come in the middle of a drawing.
  await Bun.sleep(20 + ((i * 37) % 50))
  written = ""
  const pressed = performance.now()
  watch.terminal?.write("j")
  await until(() => written.includes(DRAWN))
  times.push(performance.now() - pressed)
}
times.sort((a, b) => a - b)
const percentile = (share: number) => (times[Math.ceil(share * times.length) - 1] ?? 0).toFixed(1)

console.log(`${ENTRIES} active entries, 120x40`)
console.log(`at rest          ${(atRest * 100).toFixed(1)} % of a core`)
console.log(
  `a key is answered in  ${percentile(0.5)} ms (median), ${percentile(0.95)} ms (95 %), ${percentile(1)} ms (worst)`,
)
console.log(`memory           ${Math.round(residentKilobytes() / 1024)} MiB`)

watch.terminal?.write("q")
await watch.exited
await server.stop()

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    await new Promise<void>((resolve) => {
      wake = resolve
      setTimeout(resolve, 100)
    })
  }
}

/** Seconds of user and system time of the screen so far. */
function processorTime(): number {
  const fields = readFileSync(`/proc/${watch.pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ")
  return (Number(fields[11]) + Number(fields[12])) / TICKS
}

function residentKilobytes(): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${watch.pid}/status`, "utf8"))?.[1] ?? 0)
}
