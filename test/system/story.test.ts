// The service on a real systemd, as an administrator meets it: from the packages, by the pages, over every accident, to the purge.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { VERSION } from "../../src/version.ts"
import { textsOf } from "../docs/markdown.ts"
import { allPages } from "../docs/pages.ts"
import { fault } from "../faults/fault.ts"
import { debianTree, MISSING_FOR_SYSTEM } from "./debian-tree.ts"
import { Machine } from "./machine.ts"
import { NEXT_VERSION, releaseNext, releaseThis } from "./packages.ts"
import { Story } from "./story.ts"

setDefaultTimeout(600_000)

/** An administrator of the machine. She may use sudo, as on a machine of her own. */
const MARA = "mara"
/** Somebody else with an account there. */
const OTTO = "otto"
const PAGE = "curl -s -o /dev/null -w '%{http_code}' -H 'Host: example.org' http://127.0.0.1/"
const TOML = "/etc/ipgate/ipgate.toml"
const DATABASE = "/var/lib/ipgate/ipgate.db"

const isPossible = MISSING_FOR_SYSTEM.length === 0
const story = new Story()
const { does, tries, until, property, step } = story.verbs()
let directory = ""
let machine: Machine | null = null
let current = ""
let next = ""

beforeAll(async () => {
  if (!isPossible) return
  directory = mkdtempSync(join(tmpdir(), "ipgate-system-"))
  await step("makes a Debian, the packages, and those of a made-up next version", async () => {
    const [tree, made] = await Promise.all([
      debianTree(),
      releaseThis(join(directory, "this")).then(async (first) => [
        first,
        await releaseNext(join(directory, "next")),
      ]),
    ])
    ;[current = "", next = ""] = made
    machine = await Machine.boot(tree)
    story.at(machine)
  })
})

afterAll(async () => {
  await machine?.[Symbol.asyncDispose]()
  if (directory !== "") rmSync(directory, { recursive: true })
})

const LIFE = fault(
  "H-25 D-19 P-08 P-10 P-11 P-13",
  "installed, reloaded, killed, hung, configured wrongly, upgraded, downgraded and purged under a real systemd",
  "nobody is let in meanwhile, it comes back with every entry, and a newer database stays as it is",
)

test.skipIf(!isPossible)(LIFE, async () => {
  await step("logs in on a fresh Debian", async () => {
    for (const user of [MARA, OTTO]) await does(`useradd --create-home --shell /bin/bash ${user}`)
    await does(`echo '${MARA} ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/mara`)
    await does(
      "echo 'server { listen 127.0.0.1:3000; location / { return 200 page; } }' >/etc/nginx/conf.d/site.conf",
    )
    await does("nginx -s reload")
    bring(current)
  })

  await step(
    "installs the package, as the README says: the service runs, and will after every boot",
    async () => {
      await follows("sudo apt-get install")
      expect(await does("systemctl is-active ipgate; systemctl is-enabled ipgate")).toBe("active\nenabled\n")
      expect(await does("stat -c '%a %U:%G' /etc/ipgate/api-token /var/lib/ipgate")).toBe(
        "640 root:ipgate\n700 ipgate:ipgate\n",
      )
      expect(await property("StatusText")).toBe("0 permanent, 0 temporary")
      expect(await does("ipgate --version")).toContain(VERSION)
      // The service comes before the proxy at the next boot.
      expect(await property("Before")).toContain("nginx.service")
    },
  )

  await step("is shut off from the rest of the system", async () => {
    const rating = /: ([0-9.]+) [A-Z]/.exec(await does("systemd-analyze security --no-pager ipgate.service"))
    expect(Number(rating?.[1])).toBeLessThanOrEqual(1.5)
    expect(await does(`stat -c %U /proc/${await property("MainPID")}`)).toBe("ipgate\n")
    expect(await does("systemd-analyze verify --man=no ipgate.service 2>&1")).toBe("")
    // The filter of system calls lets the thread of the database give way to the one that decides.
    const task = `/proc/${await property("MainPID")}/task`
    const [deciding, database] = (
      await does(`awk '$2 ~ /ipgate|Worker/ { print $2, $19 }' ${task}/*/stat | sort -r | uniq`)
    )
      .trim()
      .split("\n")
      .map((line) => line.split(" "))
    expect([deciding?.[0], database?.[0]]).toEqual(["(ipgate)", "(Worker)"])
    expect(Number(database?.[1]) - Number(deciding?.[1])).toBe(Math.min(10, 19 - Number(deciding?.[1])))
  })

  await step("protects a page behind nginx, without sudo, as the README says", async () => {
    await follows("ipgate status")
    // nginx takes its new configuration a moment after it was told.
    await until(`test "$(${PAGE})" = 401`)
    await does("ipgate allow 127.0.0.1", MARA)
    expect(await does(PAGE)).toBe("200")
    await does("ipgate deny 127.0.0.1", MARA)
    expect(await does(PAGE)).toBe("401")
    await does("ipgate allow 127.0.0.1 2001:db8:1::/64", MARA)
    // Over the socket there is no address of a client, and nobody else may ask there.
    expect(await does("ipgate logs --limit 1 --json", MARA)).toContain('"api_client_ip":null')
    const refused = await tries("ipgate allow 198.51.100.9", OTTO)
    expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining("log in again") })
    expect((await tries("ipgate doctor", OTTO)).stdout).toContain("this user may not ask at unix:")
    expect(
      (await tries("curl -s --unix-socket /run/ipgate/ipgate.sock http://ipgate/status", OTTO)).code,
    ).toBe(7)
  })

  await step("reloads: another token, other trusted proxies", async () => {
    const asks = (token: string) =>
      does(
        `curl -s -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer ${token}' http://127.0.0.1:8765/api/logs`,
      )
    const first = (await does("cat /etc/ipgate/api-token")).trim()
    const second = "a-second-token-of-enough-characters-0123456789"
    const pid = await property("MainPID")
    await does(`echo ${second} >>/etc/ipgate/api-token && systemctl reload ipgate`)
    await until(`journalctl --unit ipgate | grep -q reloaded`)
    expect([await asks(first), await asks(second)]).toEqual(["200", "200"])
    await does(`echo ${second} >/etc/ipgate/api-token && systemctl reload ipgate`)
    await until(
      `test "$(curl -s -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer ${first}' http://127.0.0.1:8765/api/logs)" = 401`,
    )
    expect(await asks(second)).toBe("200")

    await does(`cp ${TOML} /root/good.toml`)
    await does(
      `sed -i 's/^#trusted_proxies.*/trusted_proxies = ["unix"]/' ${TOML} && systemctl reload ipgate`,
    )
    await until(`test "$(${PAGE})" = 401`)
    await does(`cp /root/good.toml ${TOML} && systemctl reload ipgate`)
    await until(`test "$(${PAGE})" = 200`)
    expect(await property("MainPID")).toBe(pid)
  })

  await step("changes the token without an interruption, as the pages say", async () => {
    const old = (await does("cat /etc/ipgate/api-token")).trim()
    await follows("(echo; head -c 32 /dev/urandom")
    await until(
      `test "$(curl -s -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer ${old}' http://127.0.0.1:8765/api/logs)" = 401`,
    )
    expect(await does("ipgate list --perm", MARA)).toContain("127.0.0.1")
    expect(await does("stat -c '%a %U:%G' /etc/ipgate/api-token; wc -l </etc/ipgate/api-token")).toBe(
      "640 root:ipgate\n1\n",
    )
  })

  await step("gives a colleague, who is not in the group, a token of his own", async () => {
    await does("cd && umask 077 && ipgate token create otto --scope temp-only --max-ttl 8h >otto-token", MARA)
    await does("install -o otto -m 600 /home/mara/otto-token /home/otto/otto-token")
    const asOtto = (line: string) => does(`cd && ${line} --token-file otto-token`, OTTO)
    expect(await asOtto("ipgate allow 203.0.113.20 --ttl 1h")).toContain("allowed 203.0.113.20")
    expect(await does("ipgate logs --wide -n 1", MARA)).toContain(" otto ")
    await asOtto("ipgate deny 203.0.113.20 --temp")
    await does("ipgate token revoke otto && rm otto-token", MARA)
  })

  await step(
    "starts with the default of each key written out, and not with a group it may not give",
    async () => {
      await does(`sed -i -E 's/^#([a-z_]+ = )/\\1/' ${TOML} && systemctl restart ipgate`)
      expect(await does("ipgate config show | grep socket_group")).toBe('socket_group = "ipgate"\n')
      expect(await does(PAGE)).toBe("200")
      await does(`sed -i 's/^socket_group.*/socket_group = "www-data"/' ${TOML}`)
      expect((await tries("systemctl restart ipgate")).code).not.toBe(0)
      expect(await does("journalctl --unit ipgate --priority err")).toContain("leave socket_group out")
      await does(`cp /root/good.toml ${TOML} && systemctl reset-failed ipgate && systemctl restart ipgate`)
    },
  )

  await step(
    "reloads a configuration with a mistake: refused with its line, and the old one stays in force",
    async () => {
      const pid = await property("MainPID")
      await does(`echo 'trusted = 3' >>${TOML}`)
      expect((await tries("systemctl reload ipgate")).code).not.toBe(0)
      // Also without the check that `systemctl reload` makes.
      await does("systemctl kill --kill-who=main --signal=HUP ipgate")
      await until("journalctl --unit ipgate --priority err | grep -q 'stays in force.*ipgate.toml:[0-9]*:'")
      expect([await does(PAGE), await property("MainPID")]).toEqual(["200", pid])
    },
  )

  await step("starts with that mistake: exit 78, once, nobody is let in", async () => {
    expect((await tries("systemctl restart ipgate")).code).not.toBe(0)
    // Longer than RestartSec: a loop would show.
    await Bun.sleep(2_500)
    expect(await property("ActiveState")).toBe("failed")
    expect([await property("ExecMainStatus"), await property("NRestarts")]).toEqual(["78", "0"])
    expect(await does(PAGE)).toBe("500")
    await does(`cp /root/good.toml ${TOML} && systemctl start ipgate`)
    expect(await does(PAGE)).toBe("200")
  })

  await step("is killed: another one runs, with every entry", async () => {
    const pid = await property("MainPID")
    await does(`kill -KILL ${pid}`)
    await until(`systemctl is-active ipgate && test "$(${PAGE})" = 200`)
    expect(await property("NRestarts")).toBe("1")
    expect(await does("ipgate check 2001:db8:1::7", MARA)).toContain("2001:db8:1::/64")
  })

  await step("hangs: nobody is let in, the watchdog ends it, and another one runs", async () => {
    expect(await property("WatchdogUSec")).toBe("30s")
    await does("mkdir /etc/systemd/system/ipgate.service.d")
    await does("printf '[Service]\\nWatchdogSec=3s\\n' >/etc/systemd/system/ipgate.service.d/soon.conf")
    await does("systemctl daemon-reload && systemctl restart ipgate")
    const pid = await property("MainPID")
    await does(`kill -STOP ${pid}`)
    expect(await does(`${PAGE} --max-time 1 || true`)).toBe("000")
    await until(
      `test "$(systemctl show --value --property MainPID ipgate)" != ${pid} && test "$(${PAGE})" = 200`,
    )
    expect(await does("journalctl --unit ipgate")).toContain("Failed with result 'watchdog'")
    await does(
      "rm -r /etc/systemd/system/ipgate.service.d && systemctl daemon-reload && systemctl restart ipgate",
    )
  })

  await step("writes to the journal with priorities", async () => {
    const messages = async (priority: string) =>
      does(`journalctl --unit ipgate --identifier ipgate --output cat --priority ${priority}`)
    expect(await messages("err")).toMatch(/stays in force/)
    // Of the server that did not start.
    expect(await messages("err")).toMatch(/^ipgate: .*ipgate\.toml:\d+: unknown key/m)
    expect(await messages("warning")).toMatch(/made a new, empty database/)
    expect(await messages("warning")).not.toMatch(/listening on/)
    expect(await messages("info..info")).toMatch(/^listening on/m)
    expect(await messages("notice..notice")).toMatch(/^allowed ip="127\.0\.0\.1"/m)
    const everything = await messages("debug")
    expect(everything).not.toMatch(/^<[0-9]>/m)
    expect(everything).not.toContain((await does("cat /etc/ipgate/api-token")).trim())
  })

  await step(
    `upgrades to a made-up ${NEXT_VERSION}: entries, log, token and configuration stay`,
    async () => {
      await does(`sed -i 's/^#level.*/level = "debug"/' ${TOML} && systemctl reload ipgate`)
      const before = [await kept(), await does("ipgate list --perm; ipgate logs --json", MARA)]
      bring(next)
      await follows("sudo apt-get install", (block) => block.split("\n")[0] ?? "")
      expect(await does("ipgate --version")).toContain(NEXT_VERSION)
      expect([await kept(), await does("ipgate list --perm; ipgate logs --json", MARA)]).toEqual(before)
      expect([await property("ActiveState"), await does(PAGE)]).toEqual(["active", "200"])
      // The driver of the version before is not left behind.
      expect(await does("ls -A /var/cache/ipgate | wc -l")).toBe("1\n")
    },
  )

  await step(
    "downgrades: the older version refuses the newer database, says so, and leaves it as it is",
    async () => {
      await does("systemctl stop ipgate")
      const before = await does(`sha256sum ${DATABASE}`)
      bring(current)
      const { stdout } = await tries("apt-get install --yes --allow-downgrades /home/mara/ipgate_*.deb")
      expect(stdout).toContain("ipgate does not run, so nobody is let in")
      await until("test $(systemctl show --value --property ActiveState ipgate) = failed")
      expect(await does("journalctl --unit ipgate --priority err")).toMatch(
        /was written by a newer ipgate .*left as it is/,
      )
      expect(await does(`sha256sum ${DATABASE}`)).toBe(before)
      expect(await does(PAGE)).toBe("500")
      bring(next)
      await does("systemctl reset-failed ipgate && apt-get install --yes /home/mara/ipgate_*.deb")
      expect(await does(PAGE)).toBe("200")
    },
  )

  await step(
    "moves to another machine, as the pages say: token, configuration and lists are there",
    async () => {
      await does("cd /root && ipgate backup monday.db && cp /etc/ipgate/api-token /etc/ipgate/ipgate.toml .")
      const before = [await kept(), await does("ipgate list --perm; ipgate logs --json", MARA)]
      await does("apt-get purge --yes ipgate && rm -rf /var/lib/ipgate")
      await does("apt-get install --yes /home/mara/ipgate_*.deb")
      expect([await does("ipgate list --perm --json", MARA), await does(PAGE)]).toEqual(["[]\n", "401"])
      for (const beginning of ["install -o root", "systemctl stop ipgate"]) {
        await does(`set -e\ncd /root\n${blockOf(beginning)}`)
      }
      expect([await kept(), await does("ipgate list --perm; ipgate logs --json", MARA)]).toEqual(before)
      expect([await does(PAGE), await property("ActiveState")]).toEqual(["200", "active"])
      expect(await does("ipgate doctor")).toContain("nothing is wrong")
      await does("cd /root && rm monday.db api-token ipgate.toml")
    },
  )

  await step("removes the package: lists and configuration stay for the next one", async () => {
    await follows("sudo apt-get remove", (block) => block.split("\n")[0] ?? "")
    expect((await tries("systemctl is-active ipgate")).stdout.trim()).toBe("inactive")
    expect(await does(PAGE)).toBe("500")
    expect(await does(`ls /etc/ipgate ${DATABASE}`)).toBe(
      `${DATABASE}\n\n/etc/ipgate:\napi-token\nipgate.toml\n`,
    )
    await does("apt-get install --yes /home/mara/ipgate_*.deb")
    expect(await does(PAGE)).toBe("200")
  })

  await step("purges it: nothing is left but what she made herself, and the number of its user", async () => {
    // The database on a file system of its own, which no package can take away.
    await does("systemctl stop ipgate && mount -t tmpfs tmpfs /var/lib/ipgate && systemctl start ipgate")
    await does(`test -f ${DATABASE}`)
    await follows("sudo apt-get remove")
    expect(await does("mountpoint -q /var/lib/ipgate && ls -A /var/lib/ipgate")).toBe("")
    await does("umount /var/lib/ipgate && rm -r /var/lib/ipgate")
    expect(await does("systemctl list-unit-files --no-legend 'ipgate*' | cat")).toBe("")
    const left =
      "find / -xdev -name '*ipgate*' -not -path '/proc/*' -not -path '/sys/*' -not -path '/run/systemd/*'"
    expect((await does(left)).trim().split("\n").toSorted()).toEqual([
      "/etc/nginx/conf.d/ipgate.conf",
      `/home/mara/${basename(next)}`,
    ])
    expect(await does("getent passwd ipgate | cut -d : -f 1,6,7")).toBe(
      "ipgate:/var/lib/ipgate:/usr/sbin/nologin\n",
    )
  })
})

/** Puts a package where the administrator looks for it, alone. */
function bring(path: string): void {
  if (machine === null) throw new Error("the machine is not up")
  const home = machine.path("/home/mara")
  for (const name of new Bun.Glob("*.deb").scanSync(home)) rmSync(join(home, name))
  mkdirSync(home, { recursive: true })
  copyFileSync(path, join(home, basename(path)))
}

/** Does what a block of the pages says, as the administrator, who has just logged in. */
async function follows(beginning: string, part = (block: string) => block): Promise<void> {
  await does(`set -e\n${part(blockOf(beginning))}`, MARA)
}

function blockOf(beginning: string): string {
  const block = textsOf(allPages(), "sh").find(
    (text) => text.startsWith(beginning) && !text.includes("./scripts/"),
  )
  if (block === undefined) throw new Error(`no page has a block that begins with "${beginning}"`)
  return block
}

/** What is the administrator's, and no upgrade may change. */
function kept(): Promise<string> {
  return does(`sha256sum ${TOML} /etc/ipgate/api-token && stat -c '%a %U:%G' /etc/ipgate/api-token`)
}
