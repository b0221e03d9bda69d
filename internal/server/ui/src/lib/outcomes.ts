// Outcomes of documents of a night, in words.

import type { NightCount } from '../api/types'
import { cut, oneLine } from './visible'
import type { Word } from './words'

const outcomes: Record<string, Word> = {
  certified: { text: 'certified', tone: 'good', title: 'Better on tasks like these, at the level that was left.' },
  supported: { text: 'supported', tone: 'good', title: 'Better on these tasks: the lower end of the one-sided 95 % interval is above 0, on fresh answers.' },
  suggested: { text: 'suggested', tone: 'warn', title: 'Edits that nothing is known of, or that may be luck.' },
  rejected: { text: 'rejected', tone: 'quiet', title: 'Edits were tried, and none was better.' },
  nothing_to_learn: { text: 'nothing to learn', tone: 'quiet', title: 'The document solves all of the tasks, or no usable edit was proposed.' },
  no_data: { text: 'no data', tone: 'quiet', title: 'No session had a task that is new.' },
  too_few_tasks: { text: 'too few tasks', tone: 'quiet', title: 'There are fewer tasks than anything can be learned from.' },
  not_replayable: { text: 'not replayable', tone: 'warn', title: 'There are tasks, and none can be carried out again.' },
  judge_unusable: { text: 'judge unusable', tone: 'bad', title: 'The judge cannot separate answers that the sessions separate.' },
  model_unhealthy: { text: 'model unhealthy', tone: 'bad', title: 'A model gave nothing but failures, such as an expired login.' },
  budget: { text: 'at a ceiling', tone: 'warn', title: 'A ceiling of limits was reached. The same command continues.' },
  waiting: { text: 'waits for answers', tone: 'warn', title: 'Questions are written, and their answers are not there. The same command continues.' },
  stopped: { text: 'stopped', tone: 'warn', title: 'Somebody stopped it. The same command continues.' },
  refused: { text: 'refused', tone: 'bad', title: 'The document, or what was to be written, cannot be used; or a rule waits for a person.' },
  '': { text: 'not begun', tone: 'quiet', title: 'The night has not come to it.' },
}

/** outcome says what became of a document. */
export function outcome(code: string): Word {
  return wordOf(outcomes, code)
}

/** wordOf is the word for a code; one that is not known, such as of a newer program, is shown as it is. */
export function wordOf(known: Record<string, Word>, code: string): Word {
  return Object.hasOwn(known, code) ? known[code]! : { text: cut(oneLine(code).replaceAll('_', ' '), 40).head, tone: 'quiet', title: '' }
}

/** outcomesText counts the documents of a night by outcome. */
export function outcomesText(counts: NightCount[]): string {
  return counts.map((c) => `${c.n} ${outcome(c.outcome).text}`).join(', ')
}
