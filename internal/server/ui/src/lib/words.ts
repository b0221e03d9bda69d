// Words for what the record says in codes. A code without a word is shown as it is.

export type Tone = 'good' | 'bad' | 'warn' | 'quiet' | 'live'

export interface Word { text: string; tone: Tone; title: string }

const statuses: Record<string, Word> = {
  running: { text: 'running', tone: 'live', title: 'A process works on it now.' },
  completed: { text: 'finished', tone: 'good', title: 'It ran to its end.' },
  stopped: { text: 'stopped', tone: 'warn', title: 'Somebody stopped it. The same command continues with it.' },
  budget: { text: 'at a ceiling', tone: 'warn', title: 'A ceiling was reached. Raise it, and the same command continues.' },
  waiting: { text: 'waits for answers', tone: 'warn', title: 'Questions wait for their answers.' },
  failed: { text: 'failed', tone: 'bad', title: 'It ended with an error.' },
  undecided: { text: 'undecided', tone: 'warn', title: 'There is not enough data yet. More passes continue it.' },
  unfinished: { text: 'continues', tone: 'warn', title: 'The night is not over: it is at work, or the same command continues with it.' },
  killed: { text: 'killed', tone: 'bad', title: 'Its process is gone without a word. The same command continues with it.' },
  damaged: { text: 'damaged', tone: 'bad', title: 'Its files cannot be read.' },
  unreadable: { text: 'unreadable', tone: 'bad', title: 'Its files cannot be opened.' },
  format: { text: 'another format', tone: 'bad', title: 'Another version of skillopt wrote it.' },
}

export function status(code: string): Word {
  return statuses[code] ?? { text: code, tone: 'quiet', title: '' }
}

const kinds: Record<string, string> = {
  train: 'training', eval: 'evaluation', compare: 'comparison', ablate: 'ablation', prune: 'pruning',
  noise: 'noise of a split', draft: 'drafts', gateway: 'gateway',
  mine: 'mining of sessions', night: 'night',
}

export function kind(code: string): string {
  return kinds[code] ?? code
}

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
