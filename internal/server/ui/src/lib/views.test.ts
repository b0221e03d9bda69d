import { expect, test } from 'vitest'
import { viewsOf } from './views'

test('a kind has the views that its runs can fill', () => {
  expect(viewsOf('train').has('certificate')).toBe(true)
  expect(viewsOf('eval').has('skill')).toBe(false)
  expect(viewsOf('draft').has('tasks')).toBe(false)
})

test('a kind that nobody knows has the views that its files can fill', () => {
  expect([...viewsOf('dream', [{ name: 'dream.json' }])]).toEqual(['overview'])
  expect([...viewsOf('dream', [{ name: 'run.db' }, { name: 'events' }])]).toEqual(['overview', 'cost', 'calls', 'log'])
})
