import { deflateRawSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { columnsOf, header, likely } from './table'

it.each([
  ['Question,Answer\n1,2', ['Question', 'Answer']],
  ['\ufeff"The ""big"" one, or not";Gold\r\n', ['The "big" one, or not', 'Gold']],
  ['id\tquestion\texpected answer\n', ['id', 'question', 'expected answer']],
  ['"two\nlines",b\n', ['two\nlines', 'b']],
  ['a,,b', ['a', 'b']],
  ['', []],
])('header of %j', (text, want) => expect(header(text)).toEqual(want))

it('knows usual names', () => {
  expect(likely('prompt', ['No.', 'Question'])).toBe('Question')
  expect(likely('gold', ['No.', 'expected_answer'])).toBe('expected_answer')
  expect(likely('gold', ['No.'])).toBe('')
})

// archive writes a zip with compressed parts.
function archive(parts: [string, string][]): File {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const [name, text] of parts) {
    const body = deflateRawSync(Buffer.from(text))
    const local = Buffer.alloc(30 + name.length)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(8, 8)
    local.writeUInt16LE(name.length, 26)
    local.write(name, 30)
    const entry = Buffer.alloc(46 + name.length)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE(8, 10)
    entry.writeUInt32LE(body.length, 20)
    entry.writeUInt16LE(name.length, 28)
    entry.writeUInt32LE(at, 42)
    entry.write(name, 46)
    directory.push(entry)
    bodies.push(local, body)
    at += local.length + body.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(parts.length, 10)
  end.writeUInt32LE(at, 16)
  return new File([Buffer.concat([...bodies, ...directory, end])], 'questions.xlsx')
}

it('reads the header of a workbook', async () => {
  const sheet = '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>1</v></c><c r="B1" t="inlineStr"><is><t>Answer</t></is></c></row><row r="2"><c><v>3</v></c></row></sheetData></worksheet>'
  const strings = '<sst><si><t>other</t></si><si><r><t>Ques</t></r><r><t>tion</t></r></si></sst>'
  expect(await columnsOf(archive([['xl/sharedStrings.xml', strings], ['xl/worksheets/sheet1.xml', sheet]]))).toEqual(['Question', 'Answer'])
})

it('leaves what it cannot read to the server', async () => {
  expect(await columnsOf(new File(['no archive at all, but long enough to have an end'], 'a.xlsx'))).toEqual([])
  expect(await columnsOf(new File(['{"prompt": 1}'], 'a.jsonl'))).toEqual([])
})
