// ipgate for a test of proxies, with a place of its own.

import { formatListenAddress, type ListenAddress } from "../../../src/listen-address.ts"
import { type ServerProcess, TOKEN, type Workplace } from "../../support/binary.ts"

/** ipgate with two listeners: one that only the proxy asks, and one for the test. */
export class Gate {
  private constructor(
    private readonly place: Workplace,
    private readonly args: readonly string[],
    public process: ServerProcess,
    readonly asked: ListenAddress,
    /** `HOST:PORT` of the listener for the test. */
    readonly managed: string,
  ) {}

  static async start(place: Workplace, listen: string, args: readonly string[] = []): Promise<Gate> {
    const process = await place.serve(["--listen", listen, "--listen", "127.0.0.1:0", ...args])
    const [asked, managed] = process.addresses
    if (asked === undefined || managed === undefined) throw new Error("two addresses were asked for")
    return new Gate(place, args, process, asked, formatListenAddress(managed))
  }

  async startAgain(): Promise<void> {
    const listen = ["--listen", formatListenAddress(this.asked), "--listen", this.managed]
    this.process = await this.place.serve([...listen, ...this.args])
  }

  /** With these on the permanent list meanwhile. */
  async holding<T>(addresses: readonly string[], run: () => Promise<T>): Promise<T> {
    for (const ip of addresses) await this.api("POST", "/api/whitelist/perm", { ip })
    try {
      return await run()
    } finally {
      for (const ip of addresses) await this.api("DELETE", `/api/whitelist/perm/${encodeURIComponent(ip)}`)
    }
  }

  /** When the entry ends, in milliseconds. */
  async allowFor(ttl_seconds: number, ip: string): Promise<number> {
    const answer = await this.api("POST", "/api/whitelist/temp", { ip, ttl_seconds })
    return Date.parse(answer.headers.get("Ipgate-Expires") ?? "")
  }

  /** On both lists. */
  async entries(): Promise<unknown[]> {
    const lists = ["/api/whitelist/perm/list", "/api/whitelist/temp/list"]
    return (await Promise.all(lists.map(async (path) => (await this.api("GET", path)).json()))).flat()
  }

  /** A command that finds this server. */
  ipgate(...args: readonly string[]) {
    return this.place.ipgate(args, { env: { IPGATE_SERVER: this.managed } })
  }

  private async api(method: string, path: string, body?: object): Promise<Response> {
    const answer = await fetch(`http://${this.managed}${path}`, {
      method,
      headers: { Authorization: `Bearer ${TOKEN}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return answer
  }
}
