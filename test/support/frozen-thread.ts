// One thread of another process that stands still while all its others go on. Bun cannot do that, so python3 does.

import { readdirSync, readFileSync } from "node:fs"

// ptrace(2), where only the thread that is named is stopped: PTRACE_SEIZE, PTRACE_INTERRUPT, and at the end PTRACE_DETACH.
const TRACER = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 4
thread = int(sys.argv[1])
def ptrace(request):
    if libc.ptrace(request, thread, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")
ptrace(0x4206)
ptrace(0x4207)
os.waitpid(thread, 0x40000000)
print("frozen", flush=True)
sys.stdin.read()
ptrace(17)
`

/** Use it with `await using`: at the end of its scope the thread goes on. */
export class FrozenThread {
  private constructor(private readonly child: Bun.Subprocess<"pipe", "pipe", "inherit">) {}

  /** Fulfilled when it stands still; the thread of a process itself has the same id. Rejects if it may not be traced. */
  static async freeze(thread: number): Promise<FrozenThread> {
    const child = Bun.spawn(["python3", "-c", TRACER, String(thread)], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    })
    const { value } = await child.stdout.getReader().read()
    if (value === undefined) throw new Error(`thread ${thread} cannot be frozen: is there ptrace here?`)
    return new FrozenThread(child)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.stdin.end()
    await this.child.exited
  }
}

export type Thread = { readonly id: number; readonly name: string; readonly isFrozen: boolean }

export function threadsOf(pid: number): Thread[] {
  return readdirSync(`/proc/${pid}/task`).map((id) => {
    const status = readFileSync(`/proc/${pid}/task/${id}/status`, "utf8")
    const [, name = ""] = /^Name:\s+(.*)$/m.exec(status) ?? []
    return { id: Number(id), name, isFrozen: /^State:\s+[tT]/m.test(status) }
  })
}
