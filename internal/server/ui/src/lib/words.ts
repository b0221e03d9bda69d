// Words for what the record says in codes. A code without a word is shown as it is.

import type { Word } from './statuses'

export { kind, status } from './statuses'
export type { Tone, Word } from './statuses'

const actions: Record<string, Word> = {
  baseline: { text: 'seed scored', tone: 'quiet', title: 'The score of the skill that training began with.' },
  accept_new_best: { text: 'accepted, new best', tone: 'good', title: 'The candidate is better than the current skill and than every one before.' },
  accept: { text: 'accepted', tone: 'good', title: 'The candidate took the place of the current skill.' },
  forced: { text: 'taken without a gate', tone: 'warn', title: 'It was taken without being judged.' },
  reject: { text: 'rejected', tone: 'bad', title: 'The candidate is not better than the current skill.' },
  skip_no_patches: { text: 'nothing proposed', tone: 'quiet', title: 'No usable edit was proposed.' },
  skip_no_change: { text: 'no change', tone: 'quiet', title: 'The candidate equals the current skill.' },
  skip_refused: { text: 'refused', tone: 'warn', title: 'A rewrite broke a protected region.' },
  lost: { text: 'lost', tone: 'warn', title: 'The optimizer gave no usable reply.' },
}

export function action(code: string): Word {
  return actions[code] ?? { text: code.replaceAll('_', ' '), tone: code.startsWith('accept') ? 'good' : code.startsWith('reject') ? 'bad' : 'quiet', title: '' }
}

/** editState says in words what Apply said of an edit. */
export function editState(code: string): Word {
  const text = code.replaceAll('_', ' ')
  if (code.startsWith('applied')) return { text, tone: code.includes('fallback') ? 'warn' : 'good', title: '' }
  if (code.startsWith('skipped') || code.startsWith('refused')) return { text, tone: 'warn', title: '' }
  return { text, tone: 'quiet', title: '' }
}

const verdicts: Record<string, Word> = {
  better: { text: 'B is better', tone: 'good', title: '' },
  worse: { text: 'B is worse', tone: 'bad', title: '' },
  no_difference: { text: 'no difference that matters', tone: 'quiet', title: 'None larger than the margin.' },
  not_enough_data: { text: 'not enough data', tone: 'warn', title: '' },
  needed: { text: 'needed', tone: 'good', title: 'The score is higher with the rule.' },
  useless: { text: 'useless', tone: 'quiet', title: 'The score is the same without the rule.' },
  harmful: { text: 'harmful', tone: 'bad', title: 'The score is higher without the rule.' },
  unclear: { text: 'unclear', tone: 'warn', title: 'The data do not show it.' },
  passed: { text: 'passed', tone: 'good', title: '' },
  failed: { text: 'failed', tone: 'bad', title: '' },
  not_run: { text: 'not run', tone: 'quiet', title: '' },
}

export function verdict(code: string): Word {
  return verdicts[code] ?? { text: code.replaceAll('_', ' '), tone: 'quiet', title: '' }
}

const roles: Record<string, string> = { target: 'target', optimizer: 'optimizer', judge: 'judge', agent: 'agent' }

export function role(code: string): string {
  return roles[code] ?? code
}
