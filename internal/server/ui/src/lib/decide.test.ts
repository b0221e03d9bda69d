import { describe, expect, it } from 'vitest'
import type { LineEdit } from '../api/decide'
import type { Grid } from '../api/types'
import { failing, flips, lineEdits, typed } from './decide'

/** applied does what the server does with edits. */
function applied(was: string, edits: LineEdit[]): string {
  const lines: (string | null)[] = was.split('\n')
  for (const e of edits) {
    expect(lines[e.line - 1]).toBe(e.was)
    lines[e.line - 1] = e.text
  }
  return lines.filter((l) => l !== null).join('\n')
}

describe('lineEdits', () => {
  const texts = ['', 'a', 'a\n', 'a\nb\nc\n', 'a\nX\nc\n', 'X\na\nb\nc\n', 'a\nb\nc\nX', 'a\nb\nX\nY\nc\n', 'a\n\n\nc\n', 'c\n', '\n\n', 'b\nb\nb\n']
  it('leads from any text to any other', () => {
    for (const was of texts) for (const now of texts) expect(applied(was, lineEdits(was, now)), JSON.stringify([was, now])).toBe(now)
  })
  it('keeps the ends of lines', () => {
    expect(applied('a\r\nb\r\nc\r\n', lineEdits('a\r\nb\r\nc\r\n', 'a\nX\nY\nc\n'))).toBe('a\r\nX\r\nY\r\nc\r\n')
  })
  it('names the lines that changed alone', () => {
    expect(lineEdits('a\nb\nc\n', 'a\nX\nc\n')).toEqual([{ line: 2, was: 'b', text: 'X' }])
  })
})

const task = (id: string, split: string, status: string) => ({ id, split, status, asked: 1, solved: null, flips: 0, regressions: 0 })
const column = (step: number, arm: string, split: string, cells: string) => ({ step, arm, split, cells, title: '', hard: null, n: 0 })

describe('failing', () => {
  const grid = {
    run_dir: '',
    columns: [column(0, 'seed', 'selection', '00..'), column(1, 'current', 'train', '..10'), column(1, 'candidate', 'selection', '10..'), column(2, 'current', 'train', '..u.')],
    tasks: [task('a', 'selection', 'passed'), task('b', 'selection', 'failed'), task('c', 'train', 'not_asked'), task('d', 'train', 'not_asked'), task('e', 'test', '')],
  } as unknown as Grid
  it.each([
    ['selection', 'best', ['b']], ['selection', '0', ['a', 'b']], ['selection', '1', ['b']], ['train', 'best', ['d']], ['train', '0', ['d']], ['test', 'best', []],
  ])('on %s with %s', (split, version, want) => expect(failing(grid, split, version)).toEqual(want))
})

describe('flips', () => {
  it('names tasks that both have measured', () => {
    const of = (...tasks: unknown[]) => ({ run_dir: '', columns: [], tasks }) as unknown as Grid
    const got = flips(of(task('a', 'selection', 'passed'), task('b', 'selection', 'failed'), task('c', 'train', 'not_asked')), of(task('a', 'selection', 'failed'), task('b', 'selection', 'failed'), task('c', 'train', 'failed')))
    expect(got).toEqual({ both: 2, list: [{ id: 'a', split: 'selection', type: '', left: 'passed', right: 'failed' }] })
  })
})

describe('typed', () => {
  it('quotes what a shell would read otherwise', () => {
    expect(typed(['eval', 'runs/a-1/tuned', "--task=it's 1"])).toBe("skillopt eval runs/a-1/tuned '--task=it'\\''s 1'")
  })
})
