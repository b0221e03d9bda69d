// Words for the states and kinds of runs: those of the list, which is the first view.

import type { NightCount } from '../api/types'

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

/** outcomesText counts the documents of a night by outcome. */
export function outcomesText(counts: NightCount[]): string {
  return counts.map((c) => `${c.n} ${c.outcome === '' ? 'not begun' : status(c.outcome).text.replaceAll('_', ' ')}`).join(', ')
}
