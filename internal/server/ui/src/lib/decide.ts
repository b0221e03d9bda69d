// What edits by hand change, which tasks fail, which flip between runs, and how commands are typed.

import type { LineEdit } from '../api/decide'
import type { Grid } from '../api/types'
import { cellState, type CellState } from './grid'

/**
 * lineEdits are the lines in which a text differs from what it was: from the first to the last one that was changed.
 * A text area ends all lines in \n: lines keep the ends that they had.
 */
export function lineEdits(was: string, now: string): LineEdit[] {
  const old = was.split('\n')
  const bare = old.map((l) => l.replace(/\r$/, ''))
  const lines = now.replaceAll('\r\n', '\n').split('\n')
  const end = was.includes('\r\n') ? '\r' : ''
  let from = 0
  while (from < bare.length && from < lines.length && bare[from] === lines[from]) from++
  let tail = 0
  while (tail < bare.length - from && tail < lines.length - from && bare[bare.length - 1 - tail] === lines[lines.length - 1 - tail]) tail++
  if (from === bare.length && from === lines.length) return []
  // What is only added goes behind the line before it, or before the line after it.
  if (from + tail === bare.length) {
    if (from > 0) from--
    else tail--
  }
  const ended = (l: string, last: boolean) => (last ? l : l + end)
  const text = lines.slice(from, lines.length - tail)
  const count = bare.length - tail - from
  return Array.from({ length: count }, (_, i) => {
    const first = i === 0 && text.length > 0
    const last = tail === 0
    return { line: from + i + 1, was: old[from + i]!, text: first ? text.map((l, k) => ended(l, last && k === text.length - 1)).join('\n') : null }
  })
}

/** failing are the tasks of a split that fail with a version: with a step's own column if it has one, else by their last answers. */
export function failing(grid: Grid, split: string, version: string): string[] {
  const step = /^\d+$/.test(version) ? Number(version) : -1
  const columns = grid.columns.filter((c) => c.split === split)
  const own = columns.filter((c) => c.step === step && (step === 0 ? c.arm === 'seed' : c.arm === 'candidate'))
  const of = own.length > 0 ? own : columns
  return grid.tasks.flatMap((t, i) => {
    if (t.split !== split) return []
    if (own.length === 0 && (t.status === 'passed' || t.status === 'failed')) return t.status === 'failed' ? [t.id] : []
    const last = of.findLast((c) => measured(cellState(c.cells[i])))
    return last && cellState(last.cells[i]) !== 'passed' ? [t.id] : []
  })
}

function measured(s: CellState): boolean {
  return s !== 'none' && s !== 'unmeasured'
}

export interface Flip { id: string; split: string; type: string; left: string; right: string }

/** flips are the tasks that pass with the best skill of one run and fail with that of the other; both counts those that both runs have measured. */
export function flips(left: Grid, right: Grid): { both: number; list: Flip[] } {
  const known = (s: string) => s === 'passed' || s === 'failed'
  const other = new Map(right.tasks.map((t) => [`${t.split}\n${t.id}`, t]))
  let both = 0
  const list: Flip[] = []
  for (const t of left.tasks) {
    const o = other.get(`${t.split}\n${t.id}`)
    if (!o || !known(t.status) || !known(o.status)) continue
    both++
    if (t.status !== o.status) list.push({ id: t.id, split: t.split, type: t.type ?? '', left: t.status, right: o.status })
  }
  return { both, list }
}

/** typed is a command line of the program as a shell reads it. */
export function typed(words: string[]): string {
  return ['skillopt', ...words.map((w) => (/^[\w@%+=:,./-]+$/.test(w) ? w : `'${w.replaceAll("'", "'\\''")}'`))].join(' ')
}
