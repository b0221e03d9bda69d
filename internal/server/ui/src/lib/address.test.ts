import { describe, expect, it } from 'vitest'
import { href, parse, runHref } from './router'
import { takeToken, tokenOf } from './token'

describe('parse', () => {
  it.each([
    ['', { view: 'runs', run: '' }],
    ['#/', { view: 'runs', run: '' }],
    ['#/compare/runs%3Aa-1/runs%3Ab-1', { view: 'compare', rest: ['runs:a-1', 'runs:b-1'] }],
    ['#/compare/one', { view: 'missing' }],
    ['#/run/runs%3Aa-1', { view: 'overview', run: 'runs:a-1' }],
    ['#/run/runs:a-1/skill?version=3&diff=0', { view: 'skill', run: 'runs:a-1', query: { version: '3', diff: '0' } }],
    ['#/run/x/tasks/a%2Fb%20c?left=1&right=3', { view: 'tasks', rest: ['a/b c'], query: { left: '1', right: '3' } }],
    ['#/run/x/steps/12', { view: 'steps', rest: ['12'] }],
    ['#/run/x/nonsense', { view: 'missing' }],
    ['#/run/%ff', { view: 'overview', run: '%ff' }],
  ])('%s', (hash, want) => expect(parse(hash)).toMatchObject(want))
  it('reads what href writes', () => {
    const hostile = 'a/b?c#d%"<&=+ \u202e'
    const route = parse(runHref(hostile, 'tasks', [hostile], { text: hostile, none: '' }))
    expect(route).toEqual({ view: 'tasks', run: hostile, rest: [hostile], query: { text: hostile } })
  })
  it('has no prototype to be reached', () => expect(parse('#/run/x?__proto__=1').query.polluted).toBeUndefined())
})

it('href leaves empty values out', () => expect(href(['run', 'a:b'], { x: '', y: undefined, z: 0 })).toBe('#/run/a%3Ab?z=0'))

describe('takeToken', () => {
  it.each([
    ['#token=abc', { token: 'abc', rest: '#/' }],
    ['#token=abc&to=%2Frun%2Fruns%253Aa', { token: 'abc', rest: '#/run/runs%3Aa' }],
    ['#token=abc&to=javascript:alert(1)', { token: 'abc', rest: '#/' }],
    ['#/run/x', null],
    ['', null],
  ])('%s', (hash, want) => expect(takeToken(hash)).toEqual(want))
  it.each([['  abc ', 'abc'], ['http://127.0.0.1:8675/#token=abc', 'abc']])('of %s', (text, want) => expect(tokenOf(text)).toBe(want))
})
