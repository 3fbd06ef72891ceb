// A process that adds entries as fast as it can to a database whose log keeps few rows, and says how far it has come.

import { Network } from "../../src/core/network.ts"
import { LibsqlStore } from "../../src/store/libsql-store.ts"

export const KEPT_ROWS = 300
export const GROUP = 40

if (import.meta.main) {
  const store = new LibsqlStore({ path: process.argv[2] as string, auditRows: KEPT_ROWS })
  await store.open(Date.now())
  const [first] = await store.audit({ limit: 1, offset: 0 })
  for (let next = Number(first?.reason ?? 0); ; next += GROUP) {
    const changes = Array.from({ length: GROUP }, (_, i) => {
      const n = next + i
      const network = Network.parse(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`)
      if (network === null) throw new Error(`${n} is no address`)
      const grant = { ttlSeconds: 86_400, expiresAt: Date.now() + 86_400_000, reason: String(n + 1) }
      return { op: "add_temp" as const, network, at: Date.now(), by: null, ...grant }
    })
    const { after } = await store.commit(changes)
    console.log(after)
  }
}
