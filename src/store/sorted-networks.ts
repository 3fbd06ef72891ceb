// The permanent entries of a bulk, which are no more than their networks.

import type { Family } from "../core/address.ts"
import type { Network } from "../core/network.ts"
import { RecordColumn } from "./record-column.ts"
import { SortedRecords } from "./sorted-records.ts"

export class SortedNetworks extends SortedRecords<Network> {
  constructor() {
    super("perm", (family) => new KeyColumn(family))
  }

  add(network: Network): void {
    this.addTo(network.family, network)
  }
}

class KeyColumn extends RecordColumn<Network> {
  constructor(family: Family) {
    super("perm", family)
  }

  add(network: Network): void {
    this.append(network)
  }

  protected entryAt(network: Network): Network {
    return network
  }
}
