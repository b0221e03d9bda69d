import { describe, expect, it } from 'vitest'
import type { NightAnswer, NightFunnel, NightShown } from '../api/types'
import { answered, bundled, chosen, groupsText, expected, placeText, since, command, neededText, funnelStages, nothing, powerText, usageRows, verdict } from './night'
import { outcome, outcomesText } from './outcomes'
import { describe as said } from './events'
import { nightHref, parse } from './router'

const answer = (more: Partial<NightAnswer>): NightAnswer => ({ target: 'memory:A.md', run: 'runs/x-confirm', arm: 'live', id: 't1', kind: 'correction', status: 'ok', hard: 0, soft: 0, length: 3, head: 'abc', why: '', ...more })

describe('outcome', () => {
  it.each([['certified', 'certified'], ['nothing_to_learn', 'nothing to learn'], ['', 'not begun'], ['dreamt_of', 'dreamt of'], ['constructor', 'constructor'], ['__proto__', '  proto  ']])('%s', (code, text) => expect(outcome(code).text).toBe(text))
  it('is short and shows what hides', () => {
    expect(outcome('\u202e' + 'x'.repeat(500)).text).toHaveLength(40)
    expect(outcome('\u202e').text).toBe('⟨U+202E⟩')
  })
  it('is counted', () => expect(outcomesText([{ outcome: 'supported', n: 2 }, { outcome: 'too_few_tasks', n: 1 }])).toBe('2 supported, 1 too few tasks'))
})

it('says what a night could do', () => {
  expect(groupsText({ open: 20, fresh: 4, asleep: 0, waiting: 1, tonight: 7, recalled: 13, unreviewed: 24 })).toBe('20 independent tasks open (7 tonight, 13 recalled), 4 fresh for the test, 1 waiting; 24 unreviewed')
  expect(neededText({ does: 'train', level: 0.012158542037080533, needed: 7, power: [] })).toBe('7 fresh independent tasks, all won, certify at level 0.0122')
  expect(neededText({ does: 'train', level: 0.0001, needed: 0, power: [] })).toBe('no number of fresh tasks certifies at level 0.0001')
  expect(powerText({ gain: 0.2, found: 1e-9 })).toBe('of 0.2 in 0 %')
})

it('says what all documents together came to', () => {
  expect(bundled('worse').tone).toBe('bad')
  expect(bundled('stands').text).toBe('stands')
  expect(bundled('\u202etoString').text).toBe('⟨U+202E⟩toString')
})

it('says how fares what was adopted', () => {
  expect(since('worse').tone).toBe('bad')
  expect(since('__proto__').text).toBe('  proto  ')
})

it('says where a task is carried out', () => {
  const p = { task: 't', in: 'commit', commit: '0123456789abcdef', folder: 'web', files: [], unfit: '' }
  expect(placeText(p)).toContain('the files of commit 012345')
  expect(placeText(p)).toContain(', in web')
  expect(placeText({ ...p, in: 'chat' })).toBe('a conversation, without an agent')
  expect(placeText({ ...p, unfit: 'dirty tree' })).toBe('nowhere')
})

it('tells a forecast with what it may be', () => expect(expected({ expected: 148.6, low: 37, high: 345 })).toBe('149 (37 to 345)'))

describe('answered', () => {
  it('sets both arms beside each other, pass by pass, and keeps runs apart', () => {
    const rows = answered([
      answer({}), answer({ id: 't2', hard: null }), answer({ hard: 1, head: 'second pass' }), answer({ run: 'runs/x-carried', hard: 1 }),
      answer({ arm: 'proposed', hard: 1 }), answer({ arm: 'proposed', id: 't2' }), answer({ arm: 'proposed', hard: 0 }),
    ])
    expect(rows.map((r) => [r.run, r.id, r.live?.hard, r.proposed?.hard, verdict(r)])).toEqual([
      ['runs/x-confirm', 't1', 0, 1, 'won'], ['runs/x-confirm', 't2', null, 0, null], ['runs/x-confirm', 't1', 1, 0, 'lost'], ['runs/x-carried', 't1', 1, undefined, null],
    ])
    expect(chosen(rows, 'unmeasured', '')).toHaveLength(2)
    expect(chosen(rows, 'unmeasured', 'runs/x-carried')).toHaveLength(1)
    expect(chosen(rows, 'won', '')).toHaveLength(1)
  })
  it('keeps hostile names apart', () => expect(answered([answer({ target: 'a","b', id: 'c' }), answer({ target: 'a', id: 'b","c', arm: 'proposed' })])).toHaveLength(2))
})

describe('command', () => {
  it.each([
    ['20261125-205340', 'skillopt sleep show 20261125-205340'], ['20261125-205340-2', 'skillopt sleep show 20261125-205340-2'],
    ['20261125-205340; rm -rf x', null], ['--profile=x', null], ['', null], ['20261125-205340\n', null],
  ])('%j', (night, want) => expect(command('show', night)).toBe(want))
})

it('writes the funnel a stage a row', () => {
  const f: NightFunnel = { sessions: 9, left_out: [{ reason: 'show no outcome', n: 4 }], candidates: 5, asked: 5, proposed: 6, fell: [{ reason: 'have neither', n: 2 }], merged: 1, held: 1, unfit: 0, kept: 3 }
  expect(funnelStages(f).map((s) => `${s.name} ${s.n}`)).toEqual(['Sessions 9', 'left out 4', 'Candidates 5', 'Asked 5', 'Proposed 6', 'fell 2', 'Merged 1', 'Kept 3', 'held 1', 'not replayable 0'])
  expect(funnelStages({ ...f, left_out: undefined, fell: undefined })).toHaveLength(8)
})

it('finds the run of a usage', () => {
  const night = { mined: { runs: ['runs/p-n-mine-1'], sessions: 1 }, skipped: [], targets: [{ runs: ['runs/p-n-memory', 'runs/p-n-memory-confirm'] }], by_run: { 'n-memory-confirm': 2, 'n-memory': 1, 'n-other': 3 } } as unknown as NightShown
  expect(usageRows(night).map((r) => [r.name, r.run])).toEqual([['n-memory', 'runs/p-n-memory'], ['n-memory-confirm', 'runs/p-n-memory-confirm'], ['n-other', '']])
  expect(nothing(night)).toBe('No task came out of the new sessions.')
})

it('has an address', () => {
  expect(parse(nightHref('state:0123/2026'))).toMatchObject({ view: 'night', run: '', rest: ['state:0123/2026'] })
  expect(parse('#/night/a/b')).toMatchObject({ view: 'missing' })
})

it('a lost event has a sentence', () => {
  const line = { seq: 7, event: 'damaged', time: '' }
  expect(said({ ...line, text: 'events 4 to 7 cannot be read: no JSON', file: 'events/events-000001.jsonl', line: 12 })).toEqual({ text: 'damaged: events 4 to 7 cannot be read: no JSON (events/events-000001.jsonl, line 12)', tone: 'bad' })
  expect(said(line).text).toBe('damaged: events cannot be read')
})
