// Versions of a skill as a tree: each below the one that it was made from.

import type { Candidate } from '../api/decide'
import type { RunRow } from '../api/types'

export interface Branch { candidate: Candidate; children: Branch[] }

/** tree hangs candidates below their incumbents: of several with the same text below the last one before. */
export function tree(all: Candidate[]): Branch[] {
  const last = new Map<string, Branch>()
  const roots: Branch[] = []
  for (const candidate of all) {
    const branch: Branch = { candidate, children: [] }
    const parent = candidate.parent ? last.get(candidate.parent) : undefined
    ;(parent ? parent.children : roots).push(branch)
    last.set(candidate.hash, branch)
  }
  return roots
}

export interface Descendant { row: RunRow; how: string }

/** descendants are the runs that began with something of a run: its record, its best skill, or a version that was edited by hand. */
export function descendants(all: RunRow[], run: string): Descendant[] {
  if (run === '') return []
  return all.flatMap((row) => {
    if (row.forked_of === run) return [{ row, how: 'forked of its record' }]
    if (row.continues === run) return [{ row, how: 'continues from its best skill' }]
    if (row.tuned_by_hand?.run_id === run) return [{ row, how: `scores ${versionWords(row.tuned_by_hand.version)}, edited by hand` }]
    return []
  })
}

/** versionWords calls a version as a person does. */
export function versionWords(version: string): string {
  if (version === 'best') return 'the best skill'
  if (version === '0') return 'the seed skill'
  return /^\d+$/.test(version) ? `the skill after step ${version}` : `the skill ${version}`
}

/** baseOf is the name of the folder that a run is in. */
export function baseOf(run: string): string {
  return run.slice(0, Math.max(0, run.indexOf(':')))
}
