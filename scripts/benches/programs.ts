// The programs of the system that the bench drives: which are there, and what cannot be measured without them.

const PATH = `${process.env.PATH ?? ""}:/usr/sbin:/usr/local/sbin`

/** The path of each program, or `null`. */
export type Programs = Readonly<Record<(typeof NEEDED)[number]["name"], string | null>>

const NEEDED = [
  { name: "wrk", from: "apt-get install wrk", without: "all figures of requests and of adds a second" },
  { name: "nginx", from: "apt-get install nginx", without: "the rows of nginx" },
  { name: "node", from: "apt-get install nodejs", without: "the row of the bare Node handler" },
  { name: "taskset", from: "apt-get install util-linux", without: "cores of their own for server and load" },
  { name: "chrt", from: "apt-get install util-linux", without: "the prober's right to go first on its core" },
  { name: "strace", from: "apt-get install strace", without: "the slow disk" },
] as const

export function findPrograms(): { programs: Programs; leftOut: string[] } {
  const found = NEEDED.map(({ name }) => [name, Bun.which(name, { PATH })] as const)
  const programs = Object.fromEntries(found) as Programs
  const leftOut = NEEDED.flatMap(({ name, from, without }) =>
    programs[name] === null ? [`${name} is missing (${from}): left out are ${without}`] : [],
  )
  return { programs, leftOut }
}
