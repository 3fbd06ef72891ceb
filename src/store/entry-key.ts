// The key of an entry: family, address bytes, prefix length. Its byte order is the order that the lists promise.

import type { Family } from "../core/address.ts"
import { isNetwork, Network, type Prefix } from "../core/network.ts"

/** Bytes of a key: 6 for IPv4, 18 for IPv6. */
export function keySize(family: Family): 6 | 18 {
  return family === 4 ? 6 : 18
}

export function entryKey(network: Network): Uint8Array {
  const { address, length } = network
  const bytes = new Uint8Array(keySize(address.family))
  const view = new DataView(bytes.buffer)
  bytes[0] = address.family
  view.setUint32(1, address.word0)
  if (address.family === 6) {
    view.setUint32(5, address.word1)
    view.setUint32(9, address.word2)
    view.setUint32(13, address.word3)
  }
  bytes[bytes.length - 1] = length
  return bytes
}

/** The network of the key of this family at `offset`, or `null` if the bytes are no key of a network. */
export function networkAt(view: DataView, offset: number, family: Family): Network | null {
  const key = new KeyReader(view, family)
  return key.read(offset) ? Network.ofPrefix(key) : null
}

/**
 * The numbers of one key after the other: `read` takes the key at `offset` in, and is false if its bytes are no key of
 * a network.
 */
export class KeyReader implements Prefix {
  word0 = 0
  word1 = 0
  word2 = 0
  word3 = 0
  length = 0

  constructor(
    private readonly view: DataView,
    readonly family: Family,
  ) {}

  read(offset: number): boolean {
    const { view, family } = this
    this.word0 = view.getUint32(offset + 1)
    if (family === 6) {
      this.word1 = view.getUint32(offset + 5)
      this.word2 = view.getUint32(offset + 9)
      this.word3 = view.getUint32(offset + 13)
    }
    this.length = view.getUint8(offset + keySize(family) - 1)
    return view.getUint8(offset) === family && isNetwork(this)
  }
}
