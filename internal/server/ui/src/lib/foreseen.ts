// What a run was expected to take when it began, in words.

import type { Interval } from '../api/types'

/** foreseen says what was expected, and what it would probably lie between. */
export function foreseen(of: Interval, as: (v: number) => string): string {
  return `${as(of.expected)} expected (${as(of.low)} to ${as(of.high)})`
}

/** both adds two expectations; the bounds are those of both at once, which is the wider way. */
export function both(a: Interval, b: Interval): Interval {
  return { expected: a.expected + b.expected, low: a.low + b.low, high: a.high + b.high }
}
