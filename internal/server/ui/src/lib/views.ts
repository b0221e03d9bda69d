// Which views a run of a kind has.

import type { View } from './router'

const train: View[] = ['overview', 'skill', 'steps', 'tasks', 'certificate', 'cost', 'calls', 'config', 'log']
const paid: View[] = ['overview', 'cost', 'calls', 'config', 'log'] // it calls models, and scores no tasks

const byKind: Record<string, View[]> = {
  train,
  eval: ['overview', 'tasks', ...paid.slice(1)],
  noise: paid,
  compare: ['overview', 'skill', 'tasks', ...paid.slice(1)],
  ablate: ['overview', 'skill', ...paid.slice(1)],
  prune: ['overview', 'skill', ...paid.slice(1)],
}

// What a view of a run of an unknown kind is read from.
const needs: [View, string][] = [['cost', 'run.db'], ['calls', 'run.db'], ['config', 'config.yaml'], ['log', 'events']]

/** viewsOf are the views of a kind, with the skill of an evaluation that keeps one, tuned by hand; of one that is not known, with these files, those that the files can fill. */
export function viewsOf(kind: string, files?: { name: string }[], tuned = false): Set<View> {
  if (files) return new Set<View>(['overview', ...needs.filter(([, file]) => files.some((f) => f.name === file)).map(([v]) => v)])
  return new Set([...(byKind[kind] ?? paid), ...(tuned ? (['skill'] as const) : [])])
}
