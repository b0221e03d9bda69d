// The heat map of tasks and skills: what a cell says, which rows are shown in which order,
// and where everything stands. No drawing is done here.

import type { Grid, GridColumn, GridTask } from '../api/types'

export type CellState = 'passed' | 'failed' | 'partial' | 'error' | 'unmeasured' | 'none'

/** cellState reads a character of GridColumn.cells. */
export function cellState(c: string | undefined): CellState {
  switch (c) {
    case '1': return 'passed'
    case '0': return 'failed'
    case 'x': return 'error'
    case 'u': return 'unmeasured'
    case undefined: case '.': case '': return 'none'
  }
  return c >= 'a' && c <= 'i' ? 'partial' : 'none'
}

/** share is the score of a partial cell, rounded down to a tenth; 0 of others. */
export function share(c: string): number {
  return c >= 'a' && c <= 'i' ? (c.charCodeAt(0) - 96) / 10 : 0
}

export function cellWords(c: string | undefined): string {
  switch (cellState(c)) {
    case 'passed': return 'passed'
    case 'failed': return 'failed'
    case 'partial': return `partly right, at least ${share(c ?? '').toFixed(1)}`
    case 'error': return 'failed: error of the agent'
    case 'unmeasured': return 'not measured'
    case 'none': return 'not asked'
  }
}

export type TaskSort = 'failing' | 'order' | 'difficulty' | 'flips' | 'regressions'

export interface TaskFilter { text: string; type: string; split: string; status: string; sort: TaskSort }

export const allTasks: TaskFilter = { text: '', type: '', split: '', status: '', sort: 'failing' }

/** rows are the places of the tasks that pass the filter, in order. */
export function rows(tasks: GridTask[], f: TaskFilter): number[] {
  const words = f.text.toLowerCase().split(/\s+/).filter((w) => w !== '')
  const out: number[] = []
  tasks.forEach((t, i) => {
    if (f.type !== '' && (t.type ?? '') !== f.type) return
    if (f.split !== '' && t.split !== f.split) return
    if (f.status !== '' && t.status !== f.status) return
    const all = `${t.id}\n${t.type ?? ''}\n${t.text ?? ''}\n${t.fail_reason ?? ''}`.toLowerCase()
    if (words.every((w) => all.includes(w))) out.push(i)
  })
  const by = (value: (t: GridTask) => number) => out.sort((a, b) => value(tasks[b]!) - value(tasks[a]!) || a - b)
  switch (f.sort) {
    case 'failing': return by((t) => (t.status === 'failed' ? 1 : 0))
    case 'difficulty': return by((t) => (t.solved === null ? -1 : 1 - t.solved))
    case 'flips': return by((t) => t.flips)
    case 'regressions': return by((t) => t.regressions)
    case 'order': return out
  }
}

/** columns are the places of the columns of a split, all of them without one. */
export function columns(cols: GridColumn[], split: string): number[] {
  return cols.flatMap((c, i) => (split === '' || c.split === split ? [i] : []))
}

/** commonStart is how many characters the texts of all tasks begin with alike, up to the end of a word; 0 below 20. */
export function commonStart(tasks: GridTask[]): number {
  const texts = tasks.flatMap((t) => (t.text ? [t.text] : []))
  if (texts.length < 2) return 0
  let n = texts[0]!.length
  for (const t of texts) {
    let i = 0
    while (i < n && t[i] === texts[0]![i]) i++
    n = i
  }
  const word = texts[0]!.lastIndexOf(' ', n) + 1
  return word < 20 ? 0 : word
}

export interface Geometry { cell: number; left: number; top: number; rows: number; columns: number }

/** size is that of the whole map in CSS pixels. */
export function size(g: Geometry): { width: number; height: number } {
  return { width: g.left + g.columns * g.cell, height: g.top + g.rows * g.cell }
}

export interface Window { row0: number; row1: number; col0: number; col1: number }

/** windowOf is what of the map can be seen: from row0 up to, not with, row1. */
export function windowOf(g: Geometry, x: number, y: number, width: number, height: number): Window {
  const clamp = (v: number, most: number) => Math.max(0, Math.min(most, v))
  return {
    row0: clamp(Math.floor(y / g.cell), g.rows),
    row1: clamp(Math.ceil((y + height - g.top) / g.cell), g.rows),
    col0: clamp(Math.floor(x / g.cell), g.columns),
    col1: clamp(Math.ceil((x + width - g.left) / g.cell), g.columns),
  }
}

/** hit says which cell is at a place of the view; col is -1 on the names of the tasks. */
export function hit(g: Geometry, scrollX: number, scrollY: number, x: number, y: number): { row: number; col: number } | null {
  if (y < g.top) return null
  const row = Math.floor((y - g.top + scrollY) / g.cell)
  if (row < 0 || row >= g.rows) return null
  if (x < g.left) return { row, col: -1 }
  const col = Math.floor((x - g.left + scrollX) / g.cell)
  return col < g.columns ? { row, col } : null
}

/** into is where to scroll so that a cell is in view, unchanged if it is. */
export function into(g: Geometry, at: { row: number; col: number }, x: number, y: number, width: number, height: number): { x: number; y: number } {
  const top = at.row * g.cell
  const left = at.col * g.cell
  const roomY = height - g.top
  const roomX = width - g.left
  return {
    y: top < y ? top : top + g.cell > y + roomY ? top + g.cell - roomY : y,
    x: at.col < 0 ? x : left < x ? left : left + g.cell > x + roomX ? left + g.cell - roomX : x,
  }
}

/** nextFailing is the next task after (or before) id among those that fail with the best skill, around the end; null: there is no other. */
export function nextFailing(tasks: GridTask[], order: number[], id: string, step: 1 | -1): string | null {
  const n = order.length
  const at = order.findIndex((i) => tasks[i]!.id === id)
  for (let k = 1; k <= n; k++) {
    const j = at < 0 ? (step > 0 ? k - 1 : n - k) : (((at + step * k) % n) + n) % n
    const t = tasks[order[j]!]!
    if (t.status === 'failed' && t.id !== id) return t.id
  }
  return null
}

/** bestColumn is the place of the column of the best skill on a split: the last one of the arm best, or of the step; -1: there is none. */
export function bestColumn(g: Grid, split: string, step: number): number {
  const cols = g.columns ?? []
  const best = cols.findLastIndex((c) => c.split === split && c.arm === 'best')
  if (best >= 0) return best
  return cols.findLastIndex((c) => c.split === split && c.step === step && (step === 0 ? c.arm === 'seed' : c.arm === 'candidate'))
}
