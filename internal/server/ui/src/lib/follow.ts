// What has come of a run's event log, by number. A frame may come twice after a
// reconnection: each event is taken once, in order.

import type { EventLine } from '../api/types'

/**
 * linesOf reads a frame of events. What is n in the log, the number of a line, is seq here. What
 * somebody else wrote into a log may be anything: a line has a kind, whatever it says.
 */
export function linesOf(frame: string): EventLine[] {
  return (JSON.parse(frame) as ({ n: number; event: unknown } & Record<string, unknown>)[]).map(({ n, event, ...rest }) => ({ seq: n, event: typeof event === 'string' ? event : 'unknown', ...rest }) as EventLine)
}

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
      if (typeof line.seq !== 'number' || line.seq <= this.last) continue
      if (line.seq > this.last + 1 && this.last > 0) this.missing.push({ from: this.last + 1, to: line.seq - 1 })
      if (this.first === 0) this.first = line.seq
      this.last = line.seq
      out.push(line)
    }
    return out
  }
}

/** backoff is how long to wait before attempt n (from 0), in ms: half a second, doubled up to ten. */
export function backoff(attempt: number): number {
  return Math.min(10_000, 500 * 2 ** Math.min(attempt, 10))
}
