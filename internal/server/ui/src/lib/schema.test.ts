import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Schema } from '../api/configs'
import { fields, found, modelName, problemsOf, valueOf, withModel, written, type Kind } from './schema'

// The schema that the server sends.
const all = fields(JSON.parse(readFileSync('../../../docs/config.schema.json', 'utf8')) as Schema)
const field = (key: string) => all.find((f) => f.key === key)

it('has a field for each key, of the kind of its values', () => {
  expect(all.length).toBeGreaterThan(180)
  expect(new Set(all.map((f) => f.key)).size).toBe(all.length)
  const kinds: [string, Kind][] = [['skill', 'text'], ['tasks.path', 'text'], ['tasks.columns', 'map'], ['tasks.checks', 'other'], ['train.epochs', 'number'], ['gate.metric', 'choice'], ['gate.fresh', 'flag'], ['limits.usd', 'number'], ['limits.time', 'text'], ['env.command', 'list']]
  expect(kinds.map(([key]) => [key, field(key)?.kind])).toEqual(kinds)
  expect(all.filter((f) => f.text === '').map((f) => f.key)).toEqual([])
})

it('knows which keys a page may set', () => {
  for (const key of ['skill', 'train.epochs', 'models.target.model']) expect(field(key)?.may).toBe(true)
  for (const key of ['extends', 'env.command', 'models.target.base_url', 'models.target.headers', 'agent.name']) expect(field(key)?.may).toBe(false)
})

it('finds keys by name and by what they do', () => {
  expect(found(all, 'EPOCHS passes').map((f) => f.key)).toContain('train.epochs')
  expect(found(all, 'no such thing at all')).toEqual([])
})

it.each<[Kind, unknown, string]>([
  ['number', 3, '3'], ['number', 0.05, '0.05'], ['number', 'auto', 'auto'], ['text', '2:2:1', '2:2:1'], ['flag', true, 'true'], ['flag', false, 'false'],
  ['list', ['a', 'b'], 'a\nb'], ['map', { prompt: 'Question', gold: 'The answer: short' }, 'prompt: Question\ngold: The answer: short'],
])('%s %j is written and read back', (kind, v, text) => {
  expect(written(kind, v)).toBe(text)
  expect(valueOf(kind, text)).toEqual(v)
})

it('takes a key out, and leaves what is no number to the server', () => {
  expect(valueOf('number', ' ')).toBe(null)
  expect(valueOf('number', '2 3')).toBe('2 3')
  expect(valueOf('text', '7')).toBe('7')
  expect(written('text', null)).toBe('')
})

it('shows problems at the key, and those inside of it', () => {
  const list = ['train.epochs', 'tasks.checks[0].type', 'train.epochs_more', undefined].map((key) => ({ key, message: 'no' }))
  expect(problemsOf(list, 'train.epochs')).toHaveLength(1)
  expect(problemsOf(list, 'tasks.checks')).toHaveLength(1)
})

it('chooses a model whole', () => {
  expect(modelName({ 'models.target.provider': 'openrouter', 'models.target.model': 'a/b' }, 'target', 'q')).toBe('openrouter/a/b')
  expect(withModel('target', 'openrouter/a/b', 'q')).toEqual({ 'models.target.provider': 'openrouter', 'models.target.model': 'a/b', 'models.target.world': null })
  expect(withModel('target', '', 'q')).toEqual({ 'models.target.provider': null, 'models.target.model': null, 'models.target.world': null })
})

it.each([['q', 'sim/q/world.yaml', 'world.yaml'], ['other', 'sim/q/world.yaml', '../q/world.yaml'], ['', 'sim/q/world.yaml', 'q/world.yaml']])('in folder %j the model %s has the world %s', (dir, name, world) => {
  expect(withModel('optimizer', name, dir)).toEqual({ 'models.optimizer.provider': 'sim', 'models.optimizer.model': null, 'models.optimizer.world': world })
  expect(modelName({ 'models.optimizer.provider': 'sim', 'models.optimizer.world': world }, 'optimizer', dir)).toBe(name)
})
