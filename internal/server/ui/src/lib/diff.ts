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
