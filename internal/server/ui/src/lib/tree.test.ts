import { expect, it } from 'vitest'
import type { Candidate } from '../api/decide'
import type { RunRow } from '../api/types'
import { descendants, tree, type Branch } from './tree'

const made = (hash: string, origin: string, parent = '') => ({ hash, origin, parent, step: 0, text: '', accepted: false, mean: null, expected: null }) as unknown as Candidate
const names = (b: Branch): unknown => [b.candidate.origin, b.children.map(names)]

it('a candidate hangs below the one that it was made from', () => {
  const all = [made('a', 'seed'), made('b', 'step 1', 'a'), made('c', 'step 2', 'b'), made('b', 'step 3', 'c'), made('d', 'step 4', 'b'), made('e', 'step 5', 'gone')]
  expect(tree(all).map(names)).toEqual([['seed', [['step 1', [['step 2', [['step 3', [['step 4', []]]]]]]]]], ['step 5', []]])
})

it('runs that began with a run are named', () => {
  const row = (name: string, more: Partial<RunRow>) => ({ name, ...more }) as RunRow
  const all = [row('a', {}), row('b', { forked_of: 'x' }), row('c', { continues: 'x' }), row('d', { tuned_by_hand: { run: 'x-1', run_id: 'x', version: '2' } }), row('e', { forked_of: 'y' })]
  expect(descendants(all, 'x').map((d) => [d.row.name, d.how])).toEqual([['b', 'forked of its record'], ['c', 'continues from its best skill'], ['d', 'scores the skill after step 2, edited by hand']])
  expect(descendants(all, '')).toEqual([])
})
