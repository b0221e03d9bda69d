// The tables of a study of the lab: which rows are shown, how figures are written, and the same
// figures side by side, a row for each method and a column for each world.

import type { StudyFigure, StudyRow, StudyTable } from '../api/types'
import { fixed } from './format'

interface Way { scale: number; digits: number; signed: boolean }

const ways: Record<string, Way> = {
  score: { scale: 1, digits: 3, signed: false },
  change: { scale: 1, digits: 3, signed: true },
  points: { scale: 100, digits: 1, signed: true },
  share: { scale: 1, digits: 3, signed: false },
  ratio: { scale: 1, digits: 2, signed: false },
  count: { scale: 1, digits: 0, signed: false },
}

function text(v: number, way: Way): string {
  const size = fixed(Math.abs(way.scale * v), way.digits)
  return (v < 0 ? '\u2212' : way.signed ? '+' : '') + size
}

/** mean is a figure as it is read in its unit, error what is known of how sure it is, "" for nothing. */
export function mean(f: StudyFigure, unit: string): string {
  return text(f.mean, ways[unit] ?? ways.score!)
}

export function error(f: StudyFigure, unit: string): string {
  const way = ways[unit] ?? ways.score!
  if (f.se !== null) return `(${fixed(way.scale * f.se, way.digits)})`
  if (f.low !== null && f.high !== null) return `[${text(f.low, way)}, ${text(f.high, way)}]`
  return ''
}

/** choices are the values of a name of the rows, in their order. */
export function choices(t: StudyTable, name: number): string[] {
  return [...new Set(t.rows.map((r) => r.names[name] ?? ''))]
}

/** filtered are the rows whose names are those that are wanted; "" is any. */
export function filtered(t: StudyTable, wanted: string[]): StudyRow[] {
  return t.rows.filter((r) => r.names.every((n, i) => (wanted[i] ?? '') === '' || wanted[i] === n))
}

export interface Sides { columns: string[][]; rows: { name: string; cells: (StudyFigure | null)[] }[] }

/**
 * sides sets one figure of the rows side by side: a row for each last name, such as a gate, and
 * a column for each of the names before it, such as a world and a number of tasks. Null is a
 * cell that the table does not have, or that was not measured.
 */
export function sides(rows: StudyRow[], figure: number): Sides {
  const columns: string[][] = []
  const at = new Map<string, number>()
  const out = new Map<string, (StudyFigure | null)[]>()
  for (const r of rows) {
    const before = r.names.slice(0, -1)
    const key = JSON.stringify(before)
    if (!at.has(key)) at.set(key, columns.push(before) - 1)
    const name = r.names.at(-1) ?? ''
    if (!out.has(name)) out.set(name, [])
    out.get(name)![at.get(key)!] = r.figures[figure] ?? null
  }
  return { columns, rows: [...out].map(([name, cells]) => ({ name, cells: columns.map((_, i) => cells[i] ?? null) })) }
}

/** first is what is wanted at first of a table that is too wide to be looked at whole: one value of each name between the first and the last. */
export function first(t: StudyTable): string[] {
  const wide = new Set(t.rows.map((r) => JSON.stringify(r.names.slice(0, -1)))).size > 12
  return t.names.map((_, i) => (wide && i > 0 && i < t.names.length - 1 ? (choices(t, i)[0] ?? '') : ''))
}
