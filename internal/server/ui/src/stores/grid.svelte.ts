// The grid of the run that is open, which the heat map and the view of a task share, and how
// its tasks are filtered and ordered: by the address.

import * as api from '../api/routes'
import type { Grid } from '../api/types'
import { allTasks, type TaskFilter, type TaskSort } from '../lib/grid'
import type { Route } from '../lib/router'

let kept: { key: string; grid: Promise<Grid> } | null = null

/** gridOf is the grid of a run as of a version of it: fetched once, however many views ask. */
export function gridOf(id: string, version: number): Promise<Grid> {
  const key = `${version} ${id}`
  if (kept?.key !== key) {
    const grid = api.grid(id)
    kept = { key, grid }
    grid.catch(() => { if (kept?.grid === grid) kept = null })
  }
  return kept.grid
}

const sorts = new Set<string>(['failing', 'order', 'difficulty', 'flips', 'regressions'])

/** filterOf reads a filter of tasks from an address. */
export function filterOf(route: Route): TaskFilter {
  const { text = '', type = '', split = '', status = '', sort = '' } = route.query
  return { ...allTasks, text, type, split, status, sort: sorts.has(sort) ? (sort as TaskSort) : allTasks.sort }
}

/** queryOf writes what filterOf reads. */
export function queryOf(f: TaskFilter): Record<string, string> {
  return { text: f.text, type: f.type, split: f.split, status: f.status, sort: f.sort === allTasks.sort ? '' : f.sort }
}
