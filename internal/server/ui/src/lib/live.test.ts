import { describe, expect, it } from 'vitest'
import type { EventLine } from '../api/types'
import { backoff, linesOf, Sequence } from './follow'
import { courseName, Fold } from './live'

const line = (seq: number, event = 'warning', more: Record<string, unknown> = {}): EventLine => ({ seq, event, time: '2026-01-01T00:00:00Z', ...more })

describe('Sequence', () => {
  it('takes each event once, in order, over frames that come twice', () => {
    const s = new Sequence()
    const taken = [[1, 2, 3], [2, 3, 4], [4], [5, 6]].flatMap((f) => s.fresh(f.map((n) => line(n)))).map((l) => l.seq)
    expect(taken).toEqual([1, 2, 3, 4, 5, 6])
    expect(s.missing).toEqual([])
  })
  it('may begin late, and notes a gap', () => {
    const s = new Sequence()
    s.fresh([line(100)])
    s.fresh([line(105)])
    expect(s.first).toBe(100)
    expect(s.missing).toEqual([{ from: 101, to: 104 }])
  })
  it('leaves out what has no number', () => expect(new Sequence().fresh([{ event: 'x', time: '' } as unknown as EventLine])).toEqual([]))
})

describe('linesOf', () => {
  it('gives a line without a kind one', () => expect(linesOf('[{"n":3,"event":null}]')).toEqual([{ seq: 3, event: 'unknown' }]))
  it('keeps the number of a line apart from a field of its event', () => {
    const frame = '[{"n":7,"event":"test_done","time":"t","arm":"seed","tasks":40},{"n":8,"event":"warning","time":"t","text":"say {\\"n\\":1,\\"event\\":2"}]'
    expect(linesOf(frame)).toEqual([{ seq: 7, event: 'test_done', time: 't', arm: 'seed', tasks: 40 }, { seq: 8, event: 'warning', time: 't', text: 'say {"n":1,"event":2' }])
  })
})

it('backoff grows and ends', () => expect([0, 1, 2, 10, 100].map(backoff)).toEqual([500, 1000, 2000, 10_000, 10_000]))

describe('Fold', () => {
  const read = (n: number, units: number, more: Record<string, unknown> = {}) =>
    line(n, 'gate_read', { key: 'e1/s3/gate', step: 3, epoch: 1, gate: 'strict', phase: 'pass', units, of: 80, wins: 1, losses: 0, ties: 0, difference: 0.1, low: -1, high: 1, reject: -1, accept: 1, ...more })

  it('keeps the course of a gate, and its verdict', () => {
    const f = new Fold()
    f.add(read(1, 1))
    f.add(read(2, 2))
    f.add(read(3, 3, { action: 'reject', reason: 'why' }))
    expect(f.courses).toHaveLength(1)
    expect(f.courses[0]).toMatchObject({ step: 3, of: 80, action: 'reject', reason: 'why' })
    expect(f.courses[0]!.points.map((p) => p.units)).toEqual([1, 2, 3])
    expect(f.log.map((l) => l.seq)).toEqual([3])
  })
  it('begins a course anew when the gate reads anew', () => {
    const f = new Fold()
    f.add(read(1, 5))
    f.add(read(2, 1))
    expect(f.courses.map((c) => c.points.length)).toEqual([1])
  })
  it('keeps the courses of the tries of a step apart', () => {
    const f = new Fold()
    const keys = ['e1/s3/gate', 'e1/s3/second/gate', 'e1/s3/second/half1/gate/drift/gate']
    for (const [i, key] of keys.entries()) f.add(read(i + 1, 5, { key }))
    f.add(read(4, 6, { key: keys[0] }))
    expect(f.courses.map((c) => [c.key, c.points.length])).toEqual([[keys[0], 2], [keys[1], 1], [keys[2], 1]])
    expect(f.courses.map(courseName)).toEqual(['step 3', 'step 3, second try', 'step 3, second try, first half, after a drift'])
  })
  it('keeps a bounded amount', () => {
    const f = new Fold()
    for (let n = 1; n <= 30_000; n++) {
      f.add(line(n))
      f.add(read(n, n, { key: `e1/s${n % 100}/gate`, step: n % 100 }))
      f.add(line(n, 'progress', { calls: n, input_tokens: 1, output_tokens: 1, cost_usd: null, total: 0 }))
      f.add(line(n, 'refusals', { endpoint: `e${n}`, model: 'm', code: 'c', count: 1 }))
    }
    expect(f.log.length).toBeLessThanOrEqual(2200)
    expect(f.log.length + f.forgotten).toBe(60_000)
    expect(f.courses.length).toBeLessThanOrEqual(24)
    expect(f.sums.length).toBeLessThanOrEqual(4000)
    expect(f.endpoints.length).toBeLessThanOrEqual(64)
  })
  it('leaves out a sum that falls: nothing is given back', () => {
    const f = new Fold()
    for (const calls of [5, 9, 0, 12]) f.add(line(calls + 1, 'progress', { calls, input_tokens: 10 * calls, output_tokens: 0, cost_usd: null, total: 0 }))
    expect(f.sums.map((s) => s.calls)).toEqual([5, 9, 12])
  })
  it('counts outcomes, and takes what was not measured for neither', () => {
    const f = new Fold()
    f.add(line(1, 'outcome', { status: 'ok', hard: 1 }))
    f.add(line(2, 'outcome', { status: 'ok', hard: 0 }))
    f.add(line(3, 'outcome', { status: 'unmeasured', hard: null }))
    f.add(line(4, 'outcome', { status: 'agent_error', hard: 0 }))
    expect(f.outcomes).toEqual({ passed: 1, failed: 1, unmeasured: 1, errors: 1 })
  })
  it('takes nothing for a figure that is none', () => {
    const f = new Fold()
    f.add(line(1, 'in_flight', { calls: 5 }))
    expect(f.inFlight).toEqual([])
    f.add(line(2, 'in_flight', { calls: [null, 'x', { calls: 'many' }, { calls: 2, stage: {} }] }))
    expect(f.inFlight).toEqual([{ stage: '', role: '', model: '', endpoint: '', calls: 2, oldest_s: 0 }])
    f.add(line(3, 'gate_read', { step: 1, units: 'x', of: {} }))
    expect(f.courses).toEqual([])
    expect(f.log.map((l) => l.seq)).toEqual([3])
  })
  it('does not fall over fields of a newer version', () => {
    const f = new Fold()
    for (const event of ['in_flight', 'progress', 'refusals', 'waiting', 'stage_started', 'step_done', 'run_done', 'new_thing']) f.add(line(1, event))
    expect(f.inFlight).toEqual([])
  })
})
