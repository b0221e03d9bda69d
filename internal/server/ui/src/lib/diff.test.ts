import { describe, expect, it } from 'vitest'
import type { DiffHunk } from '../api/types'
import { firstRows, rows } from './diff'

const hunk: DiffHunk = {
  from: 1, to: 1,
  lines: [
    { op: 'equal', text: 'a', from: 1, to: 1 }, { op: 'delete', text: 'b', from: 2 }, { op: 'delete', text: 'c', from: 3 }, { op: 'insert', text: 'd', to: 2 },
  ],
} as DiffHunk

describe('rows', () => {
  it('sets what was removed beside what took its place', () => {
    expect(rows(hunk, true).map((p) => [p.left?.text, p.right?.text])).toEqual([['a', 'a'], ['b', 'd'], ['c', undefined]])
  })
  it('has each line by itself without sides', () => expect(rows(hunk, false).map((p) => p.left?.text)).toEqual(['a', 'b', 'c', 'd']))
})

describe('firstRows', () => {
  const files = [[{ hunk, rows: rows(hunk, true) }, { hunk, rows: rows(hunk, true) }], [{ hunk, rows: rows(hunk, true) }]]
  it.each([
    [0, [[], []]], [2, [[2], []]], [3, [[3], []]], [4, [[3, 1], []]], [7, [[3, 3], [1]]], [100, [[3, 3], [3]]],
  ])('takes %i rows over all files', (n, want) => expect(firstRows(files, n).map((f) => f.map((p) => p.rows.length))).toEqual(want))
})
