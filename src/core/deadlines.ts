// Numbered places in the order of their deadlines: a binary heap in flat columns.

const SMALLEST = 16
const NOWHERE = -1

/** Setting and deleting cost the logarithm of the number of places; what is due is found without a look at the rest. */
export class Deadlines {
  /** By place. */
  private at = new Float64Array(SMALLEST).fill(Number.NEGATIVE_INFINITY)
  /** By place: where in the heap it stands. */
  private positions = new Int32Array(SMALLEST).fill(NOWHERE)
  /** Places; the one at `i` is due no later than those at `2i + 1` and `2i + 2`. */
  private heap = new Int32Array(SMALLEST)
  private size = 0

  /** A place that has none is always due. */
  get(place: number): number {
    return this.at[place] ?? Number.NEGATIVE_INFINITY
  }

  /** What is no number is due at once. */
  set(place: number, deadline: number): void {
    if (place >= this.at.length) this.grow(place)
    this.at[place] = Number.isNaN(deadline) ? Number.NEGATIVE_INFINITY : deadline
    let position = this.positions[place] as number
    if (position === NOWHERE) {
      position = this.size++
      this.put(place, position)
    }
    this.settle(position)
  }

  delete(place: number): void {
    const position = this.positions[place] ?? NOWHERE
    if (position === NOWHERE) return
    this.at[place] = Number.NEGATIVE_INFINITY
    this.positions[place] = NOWHERE
    const last = this.heap[--this.size] as number
    if (position === this.size) return
    this.put(last, position)
    this.settle(position)
  }

  /** True if any place is due at `now`. */
  isAnyDue(now: number): boolean {
    return this.size > 0 && (this.at[this.heap[0] as number] as number) <= now
  }

  /** Calls `visit` for each place that is due at `now`, in no particular order, until it returns false. */
  eachDue(now: number, visit: (place: number) => boolean): void {
    const open = [0]
    for (let position = open.pop(); position !== undefined; position = open.pop()) {
      if (position >= this.size) continue
      const place = this.heap[position] as number
      if ((this.at[place] as number) > now) continue
      if (!visit(place)) return
      open.push(2 * position + 2, 2 * position + 1)
    }
  }

  private settle(position: number): void {
    const place = this.heap[position] as number
    const deadline = this.at[place] as number
    while (position > 0) {
      const parent = (position - 1) >> 1
      if (this.deadlineAt(parent) <= deadline) break
      this.put(this.heap[parent] as number, position)
      position = parent
    }
    for (;;) {
      let child = 2 * position + 1
      if (child >= this.size) break
      if (child + 1 < this.size && this.deadlineAt(child + 1) < this.deadlineAt(child)) child++
      if (this.deadlineAt(child) >= deadline) break
      this.put(this.heap[child] as number, position)
      position = child
    }
    this.put(place, position)
  }

  private deadlineAt(position: number): number {
    return this.at[this.heap[position] as number] as number
  }

  private put(place: number, position: number): void {
    this.heap[position] = place
    this.positions[place] = position
  }

  private grow(place: number): void {
    const length = Math.max(this.at.length * 2, place + 1)
    const { at, positions, heap } = this
    this.at = new Float64Array(length).fill(Number.NEGATIVE_INFINITY)
    this.at.set(at)
    this.positions = new Int32Array(length).fill(NOWHERE)
    this.positions.set(positions)
    this.heap = new Int32Array(length)
    this.heap.set(heap)
  }
}
