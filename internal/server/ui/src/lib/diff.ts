// Differences as the server sends them, put into rows for a side by side view.

import type { DiffHunk, DiffLine } from '../api/types'

export interface Pair { left: DiffLine | null; right: DiffLine | null }

/** pairs sets removed lines beside the added ones that took their place. */
export function pairs(hunk: DiffHunk): Pair[] {
  const out: Pair[] = []
  let removed: DiffLine[] = []
  let added: DiffLine[] = []
  const flush = () => {
    for (let i = 0; i < Math.max(removed.length, added.length); i++) out.push({ left: removed[i] ?? null, right: added[i] ?? null })
    removed = []
    added = []
  }
  for (const line of hunk.lines ?? []) {
    if (line.op === 'delete') {
      if (added.length > 0) flush()
      removed.push(line)
    } else if (line.op === 'insert') added.push(line)
    else {
      flush()
      out.push({ left: line, right: line })
    }
  }
  flush()
  return out
}

/** rows are the rows of a hunk: pairs for a view side by side, else each line by itself, on both sides. */
export function rows(hunk: DiffHunk, side: boolean): Pair[] {
  return side ? pairs(hunk) : (hunk.lines ?? []).map((line) => ({ left: line, right: line }))
}

/** whole is a difference with all lines of the text before it, in one hunk: those that are equal too. */
export function whole(hunks: DiffHunk[], before: string): DiffHunk[] {
  const lines: DiffLine[] = []
  const old = before === '' ? [] : before.replace(/\n$/, '').split('\n')
  let from = 1
  let to = 1
  const upTo = (end: number) => {
    while (from < end) lines.push({ op: 'equal', text: old[from - 1] ?? '', from: from++, to: to++ })
  }
  for (const h of hunks) {
    upTo(h.from)
    for (const l of h.lines ?? []) {
      lines.push(l)
      if (l.op !== 'insert') from++
      if (l.op !== 'delete') to++
    }
  }
  upTo(old.length + 1)
  return [{ from: 1, to: 1, lines }]
}

export interface Part { hunk: DiffHunk; rows: Pair[] }

/** firstRows are the first n rows of all files, in order. A hunk of which none is among them is left out. */
export function firstRows(files: Part[][], n: number): Part[][] {
  return files.map((parts) => {
    const out: Part[] = []
    for (const p of parts) {
      if (n <= 0) break
      out.push(p.rows.length <= n ? p : { hunk: p.hunk, rows: p.rows.slice(0, n) })
      n -= p.rows.length
    }
    return out
  })
}

/** changes counts the lines that a difference takes away and adds. */
export function changes(hunks: DiffHunk[]): { added: number; removed: number } {
  let added = 0
  let removed = 0
  for (const h of hunks) for (const l of h.lines ?? []) {
    if (l.op === 'insert') added++
    if (l.op === 'delete') removed++
  }
  return { added, removed }
}
