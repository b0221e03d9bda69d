import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

// Rules that the content security policy and the treatment of foreign text rest on.

function files(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((e) => (e.isDirectory() ? files(join(dir, e.name)) : [join(dir, e.name)]))
}

const sources = files('src').filter((f) => /\.(svelte|ts)$/.test(f) && !f.endsWith('.test.ts'))

it('there are sources', () => expect(sources.length).toBeGreaterThan(40))
it.each([
  ['markup from text', /\{@html|innerHTML|outerHTML|insertAdjacentHTML|document\.write/],
  ['code from text', /\beval\(|new Function\(/],
  ['style attributes in markup', /<[a-zA-Z][^<>]*\sstyle="/],
  ['transitions, which write style elements', /\b(transition|in|out|animate):[a-z]+[=| ]|svelte\/(transition|animate)/],
  // The compiler drops a space at the beginning or the end of a block: {' '} stays.
  ['spaces that are not shown', /(\S\{[#:]\w+(?:[^{}]|\{[^{}]*\})*\} +|[^\s>]\{[#:]\w+(?:[^{}]|\{[^{}]*\})*\}\s+)<(?!(div|p|li|t[rdh]|ul|section|d[td]|h\d)\b)|[^\s\n] +\{[/:]\w/],
  ['addresses of other hosts', /https?:\/\/(?!www\.w3\.org\/)/],
])('no %s', (_what, pattern) => {
  const found = sources.filter((f) => pattern.test(readFileSync(f, 'utf8')))
  expect(found).toEqual([])
})
