import { describe, expect, it } from 'vitest'
import type { BlameLine, DiffHunk, DiffLine, MinedTask, NightEdit, NightRule, RunRow } from '../api/types'
import { blocks, firsts } from './blame'
import { whole } from './diff'
import { editsByStep, rulesByStep, saidOf } from './night'
import { editOf, fieldsOf, trustText } from './review'
import { parse } from './router'
import { grouped, runsOf } from './runs'

const mined = { id: 'mined-1', prompt: 'When?', correction: 'No: as in the ledger.', gold: ['a', 'b'], checks: [{ type: 'equals' }], trust: 'correction' } as unknown as MinedTask

describe('an edit of a task', () => {
  const fields = fieldsOf(mined)
  it('has only what changed', () => {
    expect(editOf(mined, fields)).toEqual({ id: 'mined-1' })
    expect(editOf(mined, { ...fields, gold: ' a \n\nc' })).toEqual({ id: 'mined-1', gold: ['a', 'c'] })
    expect(editOf(mined, { ...fields, prompt: '', said: 'x' })).toEqual({ id: 'mined-1', prompt: '', correction: 'x' })
    expect(editOf(mined, { ...fields, checks: '' })).toEqual({ id: 'mined-1', checks: [] })
  })
  it('says what is no JSON', () => expect(editOf(mined, { ...fields, checks: '[' })).toMatch(/^checks: no JSON/))
  it('of a task without answers and checks', () => {
    const bare = { ...mined, gold: null, checks: null } as unknown as MinedTask
    expect(editOf(bare, fieldsOf(bare))).toEqual({ id: 'mined-1' })
  })
  it('has an address', () => expect(parse('#/review').view).toBe('review'))
  it('knows trusts', () => expect([trustText('rubric'), trustText('__proto__')]).toEqual(['words alone, for a judge', '__proto__']))
})

const rule = (text: string, step: number, tasks: string[], difference: number | null = 1): NightRule => ({ text, step, tasks, difference, won: [tasks[0]!] })

it('says the worth of a step once, and keeps rules with other grounds apart', () => {
  const steps = rulesByStep([rule('a', 2, ['t1', 't2']), rule('b', 3, ['t3'], null), rule('c', 2, ['t1', 't2']), rule('d', 2, ['t9'])])
  expect(steps.map((s) => [s.step, s.difference, s.groups.map((g) => g.rules.map((r) => r.text))])).toEqual([[2, 1, [['a', 'c'], ['d']]], [3, null, [['b']]]])
  const edits = [{ step: 1, op: 'append', action: 'reject', difference: 0 }, { step: 2, op: 'append', action: 'accept', difference: null }, { step: 1, op: 'delete', action: 'reject', difference: 0 }] as NightEdit[]
  expect(editsByStep(edits).map((s) => [s.step, s.action, s.difference, s.edits.length])).toEqual([[1, 'reject', 0, 2], [2, 'accept', null, 1]])
  const line = (text: string, step: number, edit: number) => ({ text, line: 1, origin: { kind: 'edit', step, edit } }) as unknown as BlameLine
  const all = blocks([line('a', 1, 1), line('b', 1, 2), line('c', 2, 1), line('d', 1, 3)])
  expect(all.map((b) => firsts(all).has(b))).toEqual([true, false, true, false])
})

it('counts equal words, and has what was asked where nothing was said', () => {
  const words = [{ task: 't1', asked: 'q1', said: 'no' }, { task: 't2', asked: 'q2', said: '' }, { task: 't3', asked: 'q3', said: 'no' }, { task: 't9', asked: 'q', said: 'other' }]
  expect(saidOf(['t2', 't1', 't3', 'forgotten'], ['t3'], words)).toEqual([{ said: 'no', asked: 'q1', n: 2, won: 1 }, { said: '', asked: 'q2', n: 1, won: 0 }])
})

describe('a whole document', () => {
  const line = (op: DiffLine['op'], text: string, from?: number, to?: number) => ({ op, text, from, to }) as DiffLine
  const texts = (h: DiffHunk[]) => h.flatMap((x) => x.lines ?? []).map((l) => `${l.op[0]} ${l.from ?? '-'} ${l.to ?? '-'} ${l.text}`)
  it('has its equal lines between the changes', () => {
    const hunks: DiffHunk[] = [{ from: 2, to: 2, lines: [line('delete', 'b', 2), line('insert', 'B', undefined, 2), line('insert', 'B2', undefined, 3)] }, { from: 4, to: 5, lines: [line('delete', 'd', 4)] }]
    expect(texts(whole(hunks, 'a\nb\nc\nd\ne\n'))).toEqual(['e 1 1 a', 'd 2 - b', 'i - 2 B', 'i - 3 B2', 'e 3 4 c', 'd 4 - d', 'e 5 5 e'])
  })
  it('that is new has nothing before', () => expect(texts(whole([{ from: 1, to: 1, lines: [line('insert', 'x', undefined, 1)] }], ''))).toEqual(['i - 1 x']))
  it('without a change is all equal', () => expect(texts(whole([], 'a\n\n'))).toEqual(['e 1 1 a', 'e 2 2 ']))
})

it('puts runs below their night, where it is listed', () => {
  const row = (id: string, of = '', night = false) => ({ id, of_night: of || undefined, night: night ? {} : undefined }) as unknown as RunRow
  const rows = [row('r1', 'n1'), row('n1', '', true), row('x'), row('r2', 'n1'), row('r3', 'n2')]
  const ids = (list: RunRow[]) => list.map((r) => r.id)
  expect(ids(grouped(rows, new Set()))).toEqual(['n1', 'x', 'r3'])
  expect(ids(grouped(rows, new Set(['n1', 'gone'])))).toEqual(['n1', 'r1', 'r2', 'x', 'r3'])
  expect(runsOf(rows).get('n1')).toHaveLength(2)
})
