// What has come of a run's event log, by number. A frame may come twice after a
// reconnection: each event is taken once, in order.

import type { EventLine } from '../api/types'

export class Sequence {
  /** number of the last event that was taken, 0 before the first */
  last = 0
  /** number of the first one, 0 before it */
  first = 0
  /** stretches of numbers that the log no longer has */
  missing: { from: number; to: number }[] = []

  /** fresh returns those of lines that were not taken before, and notes numbers that were left out. */
  fresh(lines: EventLine[]): EventLine[] {
    const out: EventLine[] = []
    for (const line of lines) {
      if (typeof line.n !== 'number' || line.n <= this.last) continue
      if (line.n > this.last + 1 && this.last > 0) this.missing.push({ from: this.last + 1, to: line.n - 1 })
      if (this.first === 0) this.first = line.n
      this.last = line.n
      out.push(line)
    }
    return out
  }
}

/** backoff is how long to wait before attempt n (from 0), in ms: half a second, doubled up to ten. */
export function backoff(attempt: number): number {
  return Math.min(10_000, 500 * 2 ** Math.min(attempt, 10))
}
