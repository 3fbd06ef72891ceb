// A service manager of our own: a datagram socket that keeps what it is told. Bun has none, so python3 holds it.

const RECEIVER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
name = sys.argv[1]
s.bind("\\0" + name[1:] if name.startswith("@") else name)
print("bound", flush=True)
while True:
    print(s.recv(65536).decode().replace("\\n", " | "), flush=True)
`

export class NotifySocket {
  /** Each message on a line of its own here, its fields separated by ` | `. */
  readonly messages: string[] = []
  private readonly child: Bun.Subprocess<"ignore", "pipe", "inherit">
  private more = Promise.withResolvers<void>()

  private constructor(readonly name: string) {
    this.child = Bun.spawn(["python3", "-c", RECEIVER, name], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    })
    void this.collect()
  }

  /** `name` is a path, or `@` and an abstract name. */
  static async open(name: string): Promise<NotifySocket> {
    const socket = new NotifySocket(name)
    await socket.until((messages) => messages.includes("bound"))
    socket.messages.length = 0
    return socket
  }

  /** Fulfilled when what has come so far satisfies the condition. */
  async until(condition: (messages: readonly string[]) => boolean): Promise<void> {
    while (!condition(this.messages)) await this.more.promise
  }

  count(beginning: string): number {
    return this.messages.filter((message) => message.startsWith(beginning)).length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill()
    await this.child.exited
  }

  private async collect(): Promise<void> {
    const decoder = new TextDecoder()
    let rest = ""
    for await (const bytes of this.child.stdout) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n")
      rest = lines.pop() ?? ""
      this.messages.push(...lines)
      const { resolve } = this.more
      this.more = Promise.withResolvers()
      resolve()
    }
  }
}
