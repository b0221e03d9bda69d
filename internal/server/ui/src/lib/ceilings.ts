// The form of ceilings: what is in force as text, and what somebody has written as numbers.

import type { Limits } from '../api/routes'
import type { Progress } from '../api/types'

export interface Fields { usd: string; tokens: string; calls: string; time: string }

export function current(c: Progress['ceilings'] | null): Fields {
  const text = (v: number | null | undefined) => (v === null || v === undefined ? '' : String(v))
  return { usd: text(c?.usd), tokens: text(c?.tokens), calls: text(c?.calls), time: c?.time ?? '' }
}

/** changed are the fields that were changed: what is not sent stays as it is. */
export function changed(before: Fields, after: Fields): Partial<Fields> {
  const out: Partial<Fields> = {}
  for (const key of ['usd', 'tokens', 'calls', 'time'] as const) {
    if (before[key].trim() !== after[key].trim()) out[key] = after[key].trim()
  }
  return out
}

/** parseCeilings returns what to ask for, or a sentence that says what cannot be read. */
export function parseCeilings(fields: Partial<Fields>): Limits | string {
  const out: Limits = {}
  const names = { usd: 'Money', tokens: 'Tokens', calls: 'Model calls' }
  for (const key of ['usd', 'tokens', 'calls'] as const) {
    const text = fields[key]
    if (text === undefined) continue
    if (text === '') {
      out[key] = null
      continue
    }
    const v = Number(text.replace(/[\s_\u2009]/g, ''))
    if (!Number.isFinite(v) || v < 0 || (key !== 'usd' && !Number.isInteger(v))) {
      return `${names[key]}: "${text}" is no ${key === 'usd' ? 'sum, such as 30 or 2.50' : 'whole number'}`
    }
    out[key] = v
  }
  if (fields.time !== undefined) {
    if (fields.time !== '' && !/^(\d+(\.\d+)?(h|m|s))+$/.test(fields.time)) return `Time: "${fields.time}" is no time, such as 2h, 90m or 1h30m`
    out.time = fields.time === '' ? null : fields.time
  }
  return out
}
