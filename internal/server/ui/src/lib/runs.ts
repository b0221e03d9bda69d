// Which runs a list shows, and in which order.

import type { RunRow } from '../api/types'
import { groupBy } from './group'

export type SortKey = 'created' | 'name' | 'status' | 'score' | 'change' | 'cost' | 'steps'

export interface Filter { text: string; status: string; kind: string; tag: string; folder: string; sort: SortKey; down: boolean }

export const everything: Filter = { text: '', status: '', kind: '', tag: '', folder: '', sort: 'created', down: true }

export function keyOf(r: RunRow): string {
  return r.id ?? r.run_dir
}

/** folderOf is the short name of a run's folder. */
export function folderOf(r: RunRow): string {
  const id = r.id ?? ''
  const at = id.indexOf(':')
  return at < 0 ? '' : id.slice(0, at)
}

/** grouped puts the runs of a night right below it, of the nights that are open, and leaves them out of the others. */
export function grouped(rows: RunRow[], open: Set<string>): RunRow[] {
  const nights = new Set(rows.filter((r) => r.night).map(keyOf))
  const below = runsOf(rows)
  return rows.flatMap((r) => {
    if (r.night) return open.has(keyOf(r)) ? [r, ...(below.get(keyOf(r)) ?? [])] : [r]
    return r.of_night && nights.has(r.of_night) ? [] : [r]
  })
}

/** runsOf are the runs of nights, by night. */
export function runsOf(rows: RunRow[]): Map<string, RunRow[]> {
  return groupBy(rows.filter((r) => r.of_night), (r) => r.of_night ?? '')
}

function matches(r: RunRow, f: Filter): boolean {
  if (f.status !== '' && r.status !== f.status) return false
  if (f.kind !== '' && r.kind !== f.kind) return false
  if (f.folder !== '' && folderOf(r) !== f.folder) return false
  if (f.tag !== '' && !(r.notes.tags ?? []).includes(f.tag)) return false
  const words = f.text.toLowerCase().split(/\s+/).filter((w) => w !== '')
  if (words.length === 0) return true
  const all = [r.name, r.skill, r.run_id, r.kind, r.status, r.reason, r.notes.text, r.night?.project, ...(r.night?.outcomes ?? []).map((o) => o.outcome), ...(r.models ?? []), ...(r.notes.tags ?? [])].join('\n').toLowerCase()
  return words.every((w) => all.includes(w))
}

const collator = new Intl.Collator(undefined, { numeric: true })

type Value = string | number | null

const values: Record<SortKey, (r: RunRow) => Value> = {
  created: (r) => (r.created_at === null ? null : Date.parse(r.created_at)),
  name: (r) => r.name,
  status: (r) => r.status,
  score: (r) => r.score,
  change: (r) => r.change,
  cost: (r) => r.cost_usd,
  steps: (r) => r.steps,
}

/** shown filters and sorts runs. Those without the figure that is sorted by come last, both ways. */
export function shown(runs: RunRow[], f: Filter): RunRow[] {
  const value = values[f.sort]
  const sign = f.down ? -1 : 1
  return runs
    .filter((r) => matches(r, f))
    .map((r, i) => ({ r, i, v: value(r) }))
    .sort((a, b) => {
      if (a.v === null || b.v === null) return Number(a.v === null) - Number(b.v === null) || a.i - b.i
      const order = typeof a.v === 'string' ? collator.compare(a.v, String(b.v)) : a.v - Number(b.v)
      return sign * order || b.i - a.i
    })
    .map((x) => x.r)
}

/** choices are the values that there are, with how many runs have each, the most first. */
export function choices(runs: RunRow[], of: (r: RunRow) => string[]): [string, number][] {
  const counts = new Map<string, number>()
  for (const r of runs) for (const v of of(r)) if (v !== '') counts.set(v, (counts.get(v) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))
}
