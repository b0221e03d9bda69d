import { describe, expect, it } from 'vitest'
import { cut, cutLines, oneLine, visible } from './visible'

describe('visible', () => {
  it.each([
    ['plain text, with ümläuts and 日本語 and 👍', 'plain text, with ümläuts and 日本語 and 👍'],
    ['a\tb\nc', 'a\tb\nc'],
    ['a\r\nb', 'a\nb'],
    ['a\rb', 'a\u27e8CR\u27e9b'],
    ['\u001b[31mred', '\u27e8ESC\u27e9[31mred'],
    ['nul\u0000', 'nul\u27e8NUL\u27e9'],
    ['del\u007f', 'del\u27e8DEL\u27e9'],
    ['abc\u202egpj.exe', 'abc\u27e8U+202E\u27e9gpj.exe'],
    ['zero\u200bwidth', 'zero\u27e8U+200B\u27e9width'],
    ['tag\u{e0041}', 'tag\u27e8U+E0041\u27e9'],
    ['lone\ud800', 'lone\u27e8U+D800\u27e9'],
    ['\udc00first', '\u27e8U+DC00\u27e9first'],
    ['c1\u0085', 'c1\u27e8U+0085\u27e9'],
    ['<script>alert(1)</script>', '<script>alert(1)</script>'],
  ])('%j', (text, want) => expect(visible(text)).toBe(want))
  it('takes a megabyte in little time', () => {
    const text = 'x\u202e'.repeat(500_000)
    expect(visible(text).length).toBe(500_000 * 9)
  })
})

it('oneLine has no line break', () => expect(oneLine('a\n\n b\tc')).toBe('a  b c'))
it('cut leaves pairs whole', () => expect(cut('ab👍c', 3)).toEqual({ head: 'ab', left: 3 }))

describe('cutLines', () => {
  it('keeps what is short', () => expect(cutLines('a\nb', 5, 10)).toEqual({ head: 'a\nb', left: 0 }))
  it('cuts by lines', () => expect(cutLines('a\nb\nc', 2, 10)).toEqual({ head: 'a\nb\n', left: 1 }))
  it('cuts a long line', () => expect(cutLines('a\n' + 'b'.repeat(100), 5, 10)).toEqual({ head: 'a\n' + 'b'.repeat(10), left: 90 }))
})
