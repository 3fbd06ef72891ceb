// A Debian machine with a real systemd, in a container that ends with the test, however the test ends.

import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Finished } from "../support/binary.ts"

const BOOT = join(import.meta.dir, "boot")

/** Milliseconds within which a machine is up, and a command in it ends. */
const BOOT_DEADLINE = 60_000
const COMMAND_DEADLINE = 60_000

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

export class Machine implements AsyncDisposable {
  private constructor(
    private readonly boot: Bun.Subprocess<"pipe", "pipe", "pipe">,
    private readonly leader: number,
  ) {}

  /** Boots the tree, a tar archive, and waits until systemd has started everything in it. */
  static async boot(tree: string): Promise<Machine> {
    const boot = Bun.spawn(
      ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", BOOT, tree],
      { stdin: "pipe", stdout: "pipe", stderr: "pipe" },
    )
    const console_ = Promise.all([new Response(boot.stdout).text(), new Response(boot.stderr).text()])
    const deadline = Date.now() + BOOT_DEADLINE
    let state = "it has no process 1"
    while (boot.exitCode === null && Date.now() < deadline) {
      const leader = leaderOf(boot.pid)
      if (leader !== null) {
        const machine = new Machine(boot, leader)
        const { code, stdout, stderr } = await machine.run("systemctl is-system-running")
        if (["running", "degraded"].includes(stdout.trim())) return machine
        state = `systemctl ended with ${code}: ${stdout}${stderr}`
      }
      await Bun.sleep(50)
    }
    boot.stdin.end()
    await boot.exited
    throw new Error(`the machine does not boot: ${state}\n${(await console_).join("")}`)
  }

  /** Runs a line of the shell to its end, as root or as a user who has just logged in. Code 137: it did not end. */
  async run(line: string, { user = "root", input = "" } = {}): Promise<Finished> {
    const shell = user === "root" ? ["sh", "-c", line] : ["su", "--login", user, "--command", line]
    const child = Bun.spawn(
      [
        ...[
          "nsenter",
          "--target",
          String(this.leader),
          "--all",
          "--wdns=/root",
          // By its path, because it is sought in the machine, where the PATH of this process may lead nowhere.
          "/usr/bin/env",
          "--ignore-environment",
        ],
        ...[`PATH=${PATH}`, "HOME=/root", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", ...shell],
      ],
      { stdin: new Blob([input]), stdout: "pipe", stderr: "pipe" },
    )
    const timer = setTimeout(() => child.kill("SIGKILL"), COMMAND_DEADLINE)
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    clearTimeout(timer)
    return { code: await child.exited, stdout, stderr }
  }

  /** The path by which this process reaches a file of the machine. */
  path(inside: string): string {
    return `/proc/${this.leader}/root${inside}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.boot.stdin.end()
    await this.boot.exited
  }
}

/** The process that is number 1 in the machine, below `unshare`, the script and systemd-nspawn; `null` if it is not there yet. */
function leaderOf(unshare: number): number | null {
  let pid = unshare
  for (const name of ["bash", "systemd-nspawn", "systemd"]) {
    const child = childrenOf(pid).find((child) => nameOf(child) === name)
    if (child === undefined) return null
    pid = child
  }
  return pid
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number)
  } catch {
    return []
  }
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim()
  } catch {
    return ""
  }
}
