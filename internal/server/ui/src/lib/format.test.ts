import { describe, expect, it } from 'vitest'
import * as f from './format'

const cases = <T>(name: string, fn: (v: T) => string, rows: [T, string][]) =>
  describe(name, () => { for (const [v, want] of rows) it(`${v} is ${want}`, () => expect(fn(v)).toBe(want)) })

cases('score', f.score, [[0, '0.000'], [1, '1.000'], [0.9875, '0.988'], [0.99996, '0.99996'], [0.0001, '0.0001'], [0.5, '0.500']])
cases('points', f.points, [[0.65, '+65.0'], [-0.375, '\u221237.5'], [0, '+0.0'], [0.0004, '+0.0']])
cases('count', f.count, [[0, '0'], [937, '937'], [416053, '416\u2009053'], [1234567, '1\u2009234\u2009567']])
cases('tokens', f.tokens, [[0, '0'], [9999, '9\u2009999'], [416053, '416k'], [1464000, '1.46M'], [12_345_678, '12.3M']])
cases('usd', f.usd, [[0, '$0'], [1234.5, '$1\u2009234.50'], [0.0123, '$0.0123'], [0.000012, '$0.000012'], [1.005, '$1.00']])
cases('duration', f.duration, [[0.44, '0.4 s'], [12.3, '12 s'], [200, '3 min 20 s'], [7500, '2 h 05 min'], [273_600, '3 d 4 h'], [59.7, '1 min 00 s']])
cases('percent', f.percent, [[0.05, '5 %'], [0.0123456, '1.23 %'], [0.95, '95 %'], [0.005, '0.5 %'], [1, '100 %']])
cases('bytes', f.bytes, [[12, '12 B'], [1500, '1.5 kB'], [1_048_576, '1.0 MB']])

it.each([
  [0.3125, 3, '0.312'], [0.6875, 3, '0.688'], [1.25, 1, '1.2'], [-1.25, 1, '-1.2'], [1.75, 1, '1.8'], [0.5, 0, '0'], [1.5, 0, '2'], [2.5, 0, '2'], [1.005, 2, '1.00'], [0.9875, 3, '0.988'], [1e21, 1, '1e+21'],
])('fixed(%d, %d) is %s, as Go rounds', (v, digits, want) => expect(f.fixed(v, digits)).toBe(want))

describe('ago', () => {
  const now = Date.parse('2026-01-02T00:00:00Z')
  it.each([
    ['2026-01-01T23:59:58Z', 'now'], ['2026-01-03T00:00:00Z', 'now'], ['2026-01-01T23:59:10Z', '50 s ago'],
    ['2026-01-01T23:00:00Z', '1 h ago'], ['2025-12-30T00:00:00Z', '3 d ago'], ['nonsense', 'unknown time'],
  ])('%s is %s', (time, want) => expect(f.ago(time, now)).toBe(want))
})

it('moment leaves what is no time as it is', () => expect(f.moment('soon')).toBe('soon'))
it('list names the first and counts the rest', () => {
  expect(f.list(['a', 'b', 'c'], 2)).toBe('a, b and 1 more')
  expect(f.list(['a'], 2)).toBe('a')
})

cases('unanswered', f.unanswered, [[undefined, ''], [{}, ''], [{ refused: { refusal: 1, content_filter: 2 } }, '3 refused (content_filter 2, refusal 1)'], [{ refused: { refusal: 1 }, deadlines: 4 }, '1 refused (refusal 1), 4 past the deadline']])
