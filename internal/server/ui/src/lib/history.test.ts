import { describe, expect, it } from 'vitest'
import type { BlameLine, DiffHunk, EpochRecord, StepRecord, TaskEvaluation } from '../api/types'
import { blocks, originWords } from './blame'
import { modelOf, used } from './costs'
import { changes, pairs } from './diff'
import { find, nameOf, result, sides } from './evaluations'
import { describe as say } from './events'
import { rowsOf } from './steps'

const step = (n: number, epoch: number, more: Partial<StepRecord> = {}): StepRecord => ({
  step: n, epoch, step_in_epoch: 1, action: 'reject', rollout_hard: null, rollout_soft: null, rollout_n: 0, n_patches: 0, n_failure_patches: 0, n_success_patches: 0,
  n_lost_replies: 0, n_edits_merged: 0, n_edits_ranked: 0, edit_budget: null, selection_hard: null, selection_soft: null, selection_n: 0, candidate_gate_score: null,
  current_score: null, best_score: 0.5, best_step: 1, current_origin: 'step 1', best_origin: 'step 1', skill_hash: '', skill_len: 0, ...more,
})
const epoch = (n: number, more: Partial<EpochRecord> = {}): EpochRecord => ({ epoch: n, skill_hash: '', ...more })

describe('rowsOf', () => {
  const steps = [step(0, 0), step(1, 1), step(2, 1), step(3, 2)]
  it('puts the end of an epoch behind its last step', () => {
    expect(rowsOf({ steps, epochs: [epoch(1), epoch(2)] }).map((r) => r.id)).toEqual(['0', '1', '2', 'epoch-1', '3', 'epoch-2'])
  })
  it('marks the best skill where it came up', () => {
    const best = (h: Parameters<typeof rowsOf>[0]) => rowsOf(h).filter((r) => r.best).map((r) => r.id)
    expect(best({ steps, epochs: [epoch(1)] })).toEqual(['1'])
    expect(best({ steps: [...steps.slice(0, 3), step(3, 2, { best_step: 2, best_origin: 'slow update, epoch 1' })], epochs: [epoch(1, { slow_update: 'accept_new_best', slow_update_score: 0.5 })] })).toEqual(['epoch-1'])
    expect(best({ steps: steps.slice(0, 3), epochs: [epoch(1, { slow_update: 'accept_new_best', slow_update_score: 0.7 })] })).toEqual(['epoch-1'])
    expect(best({ steps: [step(0, 0, { best_step: 0 })], epochs: [] })).toEqual(['0'])
  })
  it('has nothing of a run that has done nothing', () => expect(rowsOf({ steps: [], epochs: [] })).toEqual([]))
})

describe('diff', () => {
  const hunk: DiffHunk = { from: 1, to: 1, lines: [
    { op: 'equal', from: 1, to: 1, text: 'a' }, { op: 'delete', from: 2, text: 'b' }, { op: 'delete', from: 3, text: 'c' }, { op: 'insert', to: 2, text: 'B' },
    { op: 'equal', from: 4, to: 3, text: 'd' }, { op: 'insert', to: 4, text: 'e' },
  ] }
  it('sets what was replaced side by side', () => {
    expect(pairs(hunk).map((p) => [p.left?.text ?? null, p.right?.text ?? null])).toEqual([['a', 'a'], ['b', 'B'], ['c', null], ['d', 'd'], [null, 'e']])
  })
  it('loses no line', () => {
    expect(changes([hunk])).toEqual({ added: 2, removed: 2 })
    const p = pairs(hunk)
    expect(p.filter((x) => x.left).length).toBe(4)
    expect(p.filter((x) => x.right).length).toBe(4)
  })
})

describe('blame', () => {
  const line = (n: number, text: string, kind: string, s = 0): BlameLine => ({ line: n, text, origin: { kind, step: s } })
  it('keeps lines of one origin together, blank ones with what stands before them', () => {
    const all = [line(1, 'a', 'seed'), line(2, '', 'rewrite', 2), line(3, 'b', 'seed'), line(4, 'c', 'edit', 1), line(5, 'd', 'edit', 2)]
    expect(blocks(all).map((b) => b.lines.map((l) => l.line))).toEqual([[1, 2, 3], [4], [5]])
  })
  it.each([[{ kind: 'seed', step: 0 }, 'seed'], [{ kind: 'edit', step: 3, edit: 2 }, 'step 3, edit 2'], [{ kind: 'slow_update', step: 4, epoch: 2 }, 'slow update, epoch 2'], [{ kind: 'outside', step: 0 }, 'by hand']])('%j is %s', (o, want) => expect(originWords(o)).toBe(want))
})

describe('evaluations', () => {
  const e = (s: number, arm: string, status: string | null, hard = 0): TaskEvaluation => ({ where: '', step: s, at: '', sample: 0, arm, outcome: status === null ? null : { id: 't', status, hard, soft: hard, usage: { input: 0, output: 0 } } }) as TaskEvaluation
  const all = [e(0, 'seed', 'ok'), e(2, 'candidate', 'unmeasured'), e(2, 'current', 'ok', 1), e(3, 'candidate', 'ok', 1), e(4, 'candidate', 'unmeasured')]
  it('names and finds', () => {
    for (const [i, x] of all.entries()) expect(find(all, nameOf(x))).toBe(i)
    expect(find(all, '2')).toBe(2) // the one that was measured
    expect(find(all, '4')).toBe(4)
    expect(find(all, '9')).toBe(-1)
    expect(find(all, 'nonsense')).toBe(-1)
  })
  it('shows the first and the last that were measured', () => {
    expect(sides(all, undefined, undefined)).toEqual([0, 3])
    expect(sides(all, '2', '4')).toEqual([2, 4])
    expect(sides([], undefined, undefined)).toEqual([0, 0])
  })
  it('tells what was not measured from what failed', () => {
    expect(all.map((x) => result(x).text)).toEqual(['failed', 'not measured', 'passed', 'passed', 'not measured'])
    expect(result(e(1, 'x', null)).text).toBe('no outcome was written down')
  })
})

describe('costs', () => {
  const stages = [
    { stage: 'rollout', role: 'target', calls: 2, input_tokens: 10, output_tokens: 1, cached_tokens: 3, cost_usd: 0.5 },
    { stage: 'merge', role: 'optimizer', calls: 1, input_tokens: 5, output_tokens: 1, cached_tokens: 0, cost_usd: null },
    { stage: 'rank', role: 'optimizer', calls: 1, input_tokens: 5, output_tokens: 1, cached_tokens: 0, cost_usd: 0.1 },
  ]
  it('has no sum of money of which a part is not known', () => {
    expect(used(stages, [], 'role').map((u) => [u.name, u.calls, u.usd])).toEqual([['target', 2, 0.5], ['optimizer', 2, null]])
  })
  it('names models', () => expect(modelOf([{ role: 'target', provider: 'openai', model: 'm' }], 'target')).toBe('openai m'))
})

describe('events in words', () => {
  it.each([
    [{ event: 'step_done', step: 3, action: 'accept_new_best', candidate_score: 0.5, best_score: 0.5, difference: 0.1, selection_n: 8 }, 'step 3: accepted, new best, candidate 0.500 (+10.0 points on 8 tasks), best 0.500'],
    [{ event: 'steered', what: 'limit', limits: { usd: 30, calls: null }, from: 'browser' }, 'other ceilings (asked by browser): usd 30, calls none'],
    [{ event: 'test_done', arm: 'seed', hard: 0.325, tasks: 40 }, 'test, seed: 0.325 on 40 tasks'],
    [{ event: 'new_thing', x: '\u202e' }, 'new_thing {"x":"\u27e8U+202E\u27e9"}'],
  ])('%j', (e, want) => expect(say({ seq: 1, time: '', ...e }).text).toBe(want))
  it('does not fall over events without their fields', () => {
    for (const event of ['run_started', 'stage_started', 'step_done', 'candidate_judged', 'epoch_done', 'gate_read', 'stopped', 'test_done', 'noise_floor', 'certificate', 'compared', 'warning', 'waiting', 'refusals', 'steered', 'run_done', 'outcome', 'progress']) {
      expect(typeof say({ seq: 1, time: '', event }).text).toBe('string')
    }
  })
})
