import { expect, test } from 'vitest'
import type { StudyTable } from '../api/types'
import { choices, error, filtered, first, mean, sides } from './study'

const figure = (mean: number) => ({ mean, se: 0.01, low: null, high: null })
const table = (rows: [string[], number | null][]): StudyTable => ({
  title: 't', names: ['world', 'tasks', 'gate'], columns: [{ name: 'gain', unit: 'change' }],
  rows: rows.map(([names, v]) => ({ names, figures: [v === null ? null : figure(v)] })),
})

test('figures are written in their unit, with what is known of their error', () => {
  expect(mean(figure(-0.0125), 'points')).toBe('\u22121.2')
  expect(mean(figure(0.5), 'change')).toBe('+0.500')
  expect(error(figure(0.5), 'points')).toBe('(1.0)')
  expect(error({ mean: 1, se: null, low: 0.25, high: 0.75 }, 'score')).toBe('[0.250, 0.750]')
  expect(error({ mean: 1, se: null, low: null, high: null }, 'count')).toBe('')
  expect(mean(figure(0.5), 'something newer')).toBe('0.500')
})

test('methods stand in rows, worlds in columns; what there is not is null', () => {
  const t = table([[['a', '12', 'strict'], 1], [['a', '30', 'strict'], 2], [['a', '12', 'race'], 3], [['b', '12', 'race'], null]])
  expect(sides(t.rows, 0)).toEqual({
    columns: [['a', '12'], ['a', '30'], ['b', '12']],
    rows: [{ name: 'strict', cells: [figure(1), figure(2), null] }, { name: 'race', cells: [figure(3), null, null] }],
  })
  expect(choices(t, 1)).toEqual(['12', '30'])
  expect(filtered(t, ['', '12', 'race']).length).toBe(2)
  expect(first(t)).toEqual(['', '', ''])
})

test('of a wide table one value of each name in the middle is wanted at first', () => {
  const t = table(Array.from({ length: 14 }, (_, i): [string[], number] => [[`w${i % 7}`, i < 7 ? '12' : '30', 'strict'], i]))
  expect(first(t)).toEqual(['', '12', ''])
})
