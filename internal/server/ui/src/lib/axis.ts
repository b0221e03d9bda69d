// An axis of differences that holds 0 and all values, with round ticks.

export interface AxisScale { low: number; high: number; ticks: number[]; at: (v: number) => number }

/** axis returns the scale on width pixels, with 24 of them free on either side. */
export function axis(values: number[], width: number): AxisScale {
  const room = 24
  let low = Math.min(0, ...values)
  let high = Math.max(0, ...values)
  const spread = Math.max(high - low, 0.02)
  low -= low < 0 ? spread * 0.08 : spread * 0.04
  high += high > 0 ? spread * 0.08 : spread * 0.04
  const step = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1].find((s) => (high - low) / s <= 8) ?? 1
  const ticks: number[] = []
  for (let i = Math.ceil(low / step); i * step <= high + 1e-9; i++) ticks.push(Number((i * step).toFixed(4)) + 0)
  return { low, high, ticks, at: (v) => room + ((v - low) / (high - low)) * (width - 2 * room) }
}
