import { describe, expect, it } from 'vitest'
import type { GridTask, RunRow } from '../api/types'
import { axis } from './axis'
import { changed, current, parseCeilings } from './ceilings'
import { allTasks, cellState, cellWords, hit, into, nextFailing, rows, share, size, windowOf, type Geometry } from './grid'
import { choices, everything, shown } from './runs'
import { wilson } from './stats'
import { tagsOf } from './tags'

const run = (name: string, more: Partial<RunRow> = {}): RunRow => ({
  id: `runs:${name}`, run_dir: `/r/${name}`, name, kind: 'train', status: 'completed', created_at: null, ended_at: null, steps: 0,
  score: null, low: null, high: null, change: null, certified: null, calls: 0, cost_usd: null, notes: {}, ...more,
})

describe('runs', () => {
  const all = [run('a-1', { score: 0.5 }), run('b-2', { score: null }), run('c-10', { score: 0.9, notes: { tags: ['x'], text: 'night' } }), run('c-9', { score: 0, status: 'killed' })]
  const names = (f: Partial<typeof everything>) => shown(all, { ...everything, ...f }).map((r) => r.name)
  it('puts what has no figure last, both ways', () => {
    expect(names({ sort: 'score', down: true })).toEqual(['c-10', 'a-1', 'c-9', 'b-2'])
    expect(names({ sort: 'score', down: false })).toEqual(['c-9', 'a-1', 'c-10', 'b-2'])
  })
  it('sorts numbers in names as numbers', () => expect(names({ sort: 'name', down: false })).toEqual(['a-1', 'b-2', 'c-9', 'c-10']))
  it('searches names, notes and tags, all words', () => {
    expect(names({ text: 'NIGHT c-' })).toEqual(['c-10'])
    expect(names({ tag: 'x' })).toEqual(['c-10'])
    expect(names({ status: 'killed' })).toEqual(['c-9'])
    expect(names({ text: 'nothing like that' })).toEqual([])
  })
  it('counts choices', () => expect(choices(all, (r) => [r.status])).toEqual([['completed', 3], ['killed', 1]]))
})

describe('cells', () => {
  it.each([['1', 'passed'], ['0', 'failed'], ['a', 'partial'], ['i', 'partial'], ['e', 'partial'], ['x', 'error'], ['u', 'unmeasured'], ['.', 'none'], [undefined, 'none'], ['?', 'none']] as const)('%s is %s', (c, want) => {
    expect(cellState(c)).toBe(want)
    expect(cellWords(c)).not.toBe('')
  })
  it('share', () => expect(['a', 'e', 'i', '1', 'x'].map(share)).toEqual([0.1, 0.5, 0.9, 0, 0]))
})

describe('geometry', () => {
  const g: Geometry = { cell: 20, left: 100, top: 30, rows: 1000, columns: 300 }
  it('size', () => expect(size(g)).toEqual({ width: 6100, height: 20_030 }))
  it('sees only what is in view', () => {
    expect(windowOf(g, 0, 0, 500, 230)).toEqual({ row0: 0, row1: 10, col0: 0, col1: 20 })
    expect(windowOf(g, 5600, 19_800, 500, 230)).toEqual({ row0: 990, row1: 1000, col0: 280, col1: 300 })
    expect(windowOf(g, 1e9, 1e9, 500, 230)).toEqual({ row0: 1000, row1: 1000, col0: 300, col1: 300 })
  })
  it('hits names, cells and nothing', () => {
    expect(hit(g, 40, 200, 105, 35)).toEqual({ row: 10, col: 2 })
    expect(hit(g, 40, 200, 50, 35)).toEqual({ row: 10, col: -1 })
    expect(hit(g, 0, 0, 50, 10)).toBeNull()
  })
  it('scrolls no more than is needed', () => {
    expect(into(g, { row: 5, col: 5 }, 0, 0, 500, 230)).toEqual({ x: 0, y: 0 })
    expect(into(g, { row: 10, col: 20 }, 0, 0, 500, 230)).toEqual({ x: 20, y: 20 })
    expect(into(g, { row: 0, col: -1 }, 60, 60, 500, 230)).toEqual({ x: 60, y: 0 })
  })
  it('whatever is hit is in view', () => {
    for (let row = 0; row < 1000; row += 37) for (let col = 0; col < 300; col += 17) {
      const at = into(g, { row, col }, 3000, 9000, 500, 230)
      const w = windowOf(g, at.x, at.y, 500, 230)
      expect(row >= w.row0 && row < w.row1 && col >= w.col0 && col < w.col1).toBe(true)
    }
  })
})

describe('tasks', () => {
  const task = (id: string, more: Partial<GridTask> = {}): GridTask => ({ id, split: 'selection', asked: 1, solved: 1, flips: 0, regressions: 0, status: 'passed', ...more })
  const all = [task('a', { solved: 0.5, flips: 1 }), task('b', { status: 'failed', solved: 0, type: 't' }), task('c', { solved: null, status: 'unmeasured' }), task('d', { status: 'failed', solved: 0.2, regressions: 2, split: 'test', text: 'What is it?' })]
  const ids = (f: Partial<typeof allTasks>) => rows(all, { ...allTasks, ...f }).map((i) => all[i]!.id).join('')
  it.each([[{}, 'bdac'], [{ sort: 'order' }, 'abcd'], [{ sort: 'difficulty' }, 'bdac'], [{ sort: 'flips' }, 'abcd'], [{ sort: 'regressions' }, 'dabc'], [{ status: 'failed' }, 'bd'], [{ type: 't' }, 'b'], [{ split: 'test' }, 'd'], [{ text: 'WHAT it' }, 'd']] as const)('%j', (f, want) => expect(ids(f as never)).toBe(want))
  it('goes around among those that fail', () => {
    const order = [0, 1, 2, 3]
    expect(nextFailing(all, order, 'b', 1)).toBe('d')
    expect(nextFailing(all, order, 'd', 1)).toBe('b')
    expect(nextFailing(all, order, 'a', -1)).toBe('d')
    expect(nextFailing(all, order, 'gone', 1)).toBe('b')
    expect(nextFailing(all, [0], 'a', 1)).toBeNull()
  })
})

describe('ceilings', () => {
  const before = current({ calls: null, tokens: 1000, usd: 5, time: '2h' })
  it('sends what was changed alone', () => {
    expect(changed(before, { ...before, usd: '30' })).toEqual({ usd: '30' })
    expect(parseCeilings({ usd: '30' })).toEqual({ usd: 30 })
    expect(parseCeilings({ tokens: '', time: '' })).toEqual({ tokens: null, time: null })
    expect(parseCeilings({ tokens: '1 000 000', time: '1h30m' })).toEqual({ tokens: 1_000_000, time: '1h30m' })
  })
  it.each([{ usd: 'many' }, { usd: '-1' }, { calls: '1.5' }, { time: 'two hours' }, { usd: 'Infinity' }])('refuses %j', (f) => expect(typeof parseCeilings(f)).toBe('string'))
})

it('tags', () => expect(tagsOf(' a, b ,,a,  c  d ')).toEqual(['a', 'b', 'c d']))
it('wilson is the interval of the record', () => {
  const [low, high] = wilson(0.325, 40)!
  expect(low).toBeCloseTo(0.20084502231782697, 12)
  expect(high).toBeCloseTo(0.47982253810122333, 12)
  expect(wilson(0.5, 0)).toBeNull()
})
it('an axis holds all values and 0', () => {
  const a = axis([0.65, 0.5, 0.775], 520)
  expect(a.ticks).toContain(0)
  for (const v of [0, 0.65, 0.775]) expect(a.at(v) >= 24 && a.at(v) <= 496).toBe(true)
})
