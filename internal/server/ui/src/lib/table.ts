// The header of a table of tasks, so that its columns can be chosen before it is sent. What is in
// the rows is read by the server.

import { turn } from './turn'

/** header returns the names of the columns of a .csv text: of its first line, with quotes. */
export function header(text: string): string[] {
  const head = text.replace(/^\ufeff/, '')
  const line = /^(?:"(?:[^"]|"")*"|[^"\r\n])*/.exec(head)?.[0] ?? ''
  const separator = [',', ';', '\t'].map((c) => [c, line.replace(/"(?:[^"]|"")*"/g, '').split(c).length] as const).sort((a, b) => b[1] - a[1])[0]![0]
  const out: string[] = []
  for (const m of line.matchAll(new RegExp(`(?:^|${separator})(?:"((?:[^"]|"")*)"|([^${separator}]*))`, 'g'))) out.push((m[1]?.replaceAll('""', '"') ?? m[2] ?? '').trim())
  return out.filter((c) => c !== '')
}

/** columnsOf returns the columns of a file of tasks, none for one that is no table or cannot be read here. */
export async function columnsOf(file: File): Promise<string[]> {
  if (/\.csv$/i.test(file.name)) return header(await file.slice(0, 64_000).text())
  if (!/\.xlsx$/i.test(file.name)) return []
  try {
    return await sheetHeader(new DataView(await file.arrayBuffer()))
  } catch {
    return [] // the server says what is wrong with it
  }
}

// A workbook is an archive: its parts are found by the directory at its end.
async function sheetHeader(zip: DataView): Promise<string[]> {
  const part = (name: RegExp) => entry(zip, name).then((text) => new DOMParser().parseFromString(text, 'text/xml'))
  const sheet = await part(/^xl\/worksheets\/sheet1\.xml$/)
  await turn()
  const cells = [...(sheet.querySelector('sheetData > row')?.querySelectorAll('c') ?? [])]
  const shared = cells.some((c) => c.getAttribute('t') === 's') ? [...(await part(/^xl\/sharedStrings\.xml$/)).querySelectorAll('si')] : []
  return cells.map((c) => (c.getAttribute('t') === 's' ? shared[Number(c.textContent)]?.textContent : c.textContent) ?? '').map((c) => c.trim()).filter((c) => c !== '')
}

async function entry(zip: DataView, name: RegExp): Promise<string> {
  let end = zip.byteLength - 22
  while (end >= 0 && zip.getUint32(end, true) !== 0x06054b50) end--
  let at = zip.getUint32(end + 16, true)
  for (let n = zip.getUint16(end + 10, true); n > 0; n--) {
    const size = zip.getUint32(at + 20, true)
    const length = zip.getUint16(at + 28, true)
    if (name.test(new TextDecoder().decode(new Uint8Array(zip.buffer, at + 46, length)))) {
      const local = zip.getUint32(at + 42, true)
      const from = local + 30 + zip.getUint16(local + 26, true) + zip.getUint16(local + 28, true)
      const body = new Blob([new Uint8Array(zip.buffer as ArrayBuffer, from, size)])
      if (zip.getUint16(at + 10, true) === 0) return body.text()
      return new Response(body.stream().pipeThrough(new DecompressionStream('deflate-raw'))).text()
    }
    at += 46 + length + zip.getUint16(at + 30, true) + zip.getUint16(at + 32, true)
  }
  throw new Error('the part is not there')
}

const usual = {
  prompt: ['prompt', 'question', 'query', 'input', 'instruction', 'problem'],
  gold: ['gold', 'answer', 'answers', 'expected', 'expected answer', 'correct answer', 'target', 'label', 'solution'],
}

/** likely returns the column that a field is probably read from, '' for none. */
export function likely(field: keyof typeof usual, columns: string[]): string {
  for (const name of usual[field]) {
    const c = columns.find((x) => x.toLowerCase().replace(/[_-]/g, ' ') === name)
    if (c !== undefined) return c
  }
  return ''
}
