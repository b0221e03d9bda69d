// What a finished run came to, in words, by the same rules as the sentence of package result.

import type { RunShown } from '../api/types'
import { plural, points, score } from './format'
import type { Tone } from './words'

type RunScore = RunShown['score']

export interface Outcome { head: string; text: string; tone: Tone }

function chosenOf(shown: RunShown): { of: 'hard' | 'soft'; unit: string } {
  return shown.score.metric === 'soft' ? { of: 'soft', unit: 'soft score ' } : { of: 'hard', unit: '' }
}

/** outcome answers whether the skill got better. */
export function outcome(shown: RunShown): Outcome {
  const s = shown.summary
  if (!s) return soFar(shown)
  const { of, unit } = chosenOf(shown)
  const same = s.best.step === 0
  const seed = s.test.seed
  const best = s.test.best ?? (same ? seed : null)
  const caveat = s.simulated ? ' The models are simulated: this shows how training works, not what a model can do.' : ''
  if (!best) return untested(shown, caveat)
  if (same) return { head: 'No', text: `No better skill was found. The seed skill: ${unit}${score(best[of])} on ${plural(best.n, 'test task', 'test tasks')}.${caveat}`, tone: 'quiet' }
  if (!seed) return { head: 'Not known', text: `${unit}${score(best[of])} on ${plural(best.n, 'test task', 'test tasks')}; the seed skill was not measured on them.${caveat}`, tone: 'quiet' }
  const text = `From ${unit}${score(seed[of])} to ${score(best[of])} on ${plural(best.n, 'test task', 'test tasks')}${seed.n !== best.n ? ` (the seed skill on ${seed.n})` : ''}, which chose nothing.${caveat}`
  const d = s.certificate?.difference ?? best[of] - seed[of]
  if (s.certificate?.certified) return { head: `Yes: ${points(d)} points, certified`, text, tone: 'good' }
  if (d > 0) return { head: `${points(d)} points, not certified`, text, tone: 'warn' }
  return { head: d < 0 ? `No: ${points(d)} points` : 'No difference', text, tone: d < 0 ? 'bad' : 'quiet' }
}

function untested(shown: RunShown, caveat: string): Outcome {
  const s = shown.summary!
  if (shown.score.score === null) return { head: 'Not known', text: `Nothing was measured.${caveat}`, tone: 'quiet' }
  const why = s.test.refused ? 'The test split was opened before for other skills, and stayed closed.' : s.status !== 'completed' ? 'The test split is not opened yet.' : 'There are no test scores.'
  return { head: 'Not known on new tasks', text: `${chosenOf(shown).unit}${score(shown.score.score)} on ${over(shown.score)} that chose the skill, so expect less on new ones. ${why}${caveat}`, tone: 'quiet' }
}

/** over says of which answers a score is, as RunScore.Over of package result. */
export function over(s: RunScore): string {
  const n = s.n ?? 0
  const tasks = plural(n, `${s.split} task`, `${s.split} tasks`)
  if (s.pass === 'fresh') return `a fresh pass over ${tasks}`
  return (s.answers ?? 0) > n ? `${s.answers} answers to ${tasks}` : tasks
}

/** soFar is what the steps of a run say that has not ended. */
function soFar(shown: RunShown): Outcome {
  const { score: best } = shown.score
  const text = unfinished(shown)
  if (best === null) return { head: 'Not known yet', text, tone: 'quiet' }
  return { head: 'Not known on new tasks', text: `${score(best)} so far on ${over(shown.score)}, which chose the skill, so expect less on new ones. ${text}`, tone: 'quiet' }
}

/** tally counts what the gate decided, of a run that has no summary of it yet. */
export function tally(shown: RunShown): { steps: number; accepted: number; rejected: number; skipped: number } {
  const out = { steps: 0, accepted: 0, rejected: 0, skipped: 0 }
  if (shown.summary) {
    const { steps, accepted, rejected, skipped } = shown.summary
    return { steps, accepted, rejected, skipped }
  }
  for (const x of shown.history.steps ?? []) {
    if (x.step === 0) continue
    out.steps++
    if (x.action.startsWith('accept') || x.action === 'forced') out.accepted++
    else if (x.action.startsWith('reject')) out.rejected++
    else out.skipped++
  }
  return out
}

function unfinished(shown: RunShown): string {
  const status = shown.killed ? 'killed' : shown.manifest.status
  if (status === 'running') return 'The run is at work.'
  return `The run ${({ killed: 'was killed', budget: 'reached a ceiling', stopped: 'was stopped', failed: 'failed' } as Record<string, string>)[status] ?? `is ${status}`} before its end, and the test split is not read yet.`
}

/** certainty answers how sure that is. */
export function certainty(shown: RunShown): string {
  const s = shown.summary
  if (!s) return 'Nothing can be said before the run has ended once.'
  if (s.certificate) return (s.test.openings ?? 0) > 1 ? `Not certified: the test split was opened ${s.test.openings} times.` : sentence(s.certificate.words)
  if (shown.row.score === null) return 'There is no certificate: nothing was measured.'
  if (s.best.step === 0) return 'There is nothing to certify: the seed skill is the best one.'
  if (s.test.refused) return 'There is no certificate: the test split stayed closed.'
  return 'There is no certificate: the test split was not read with both skills.'
}

function sentence(words: string): string {
  return words === '' ? '' : words[0]!.toUpperCase() + words.slice(1) + (/[.!?]$/.test(words) ? '' : '.')
}

export interface Next { text: string; command?: string }

/** nextSteps answers what can be done now. */
export function nextSteps(shown: RunShown): Next[] {
  const out: Next[] = []
  const status = shown.killed ? 'killed' : shown.row.status
  const s = shown.summary
  const dir = quoted(shown.row.run_dir)
  if (shown.row.copy) out.push({ text: 'This is a copy: continue the run where it was made.' })
  else if (status === 'budget') out.push({ text: 'It reached a ceiling. Raise it, then give the command that began the run again: it continues from here.', command: `skillopt runs limit ${dir} ${ceilingOf(shown.row.reason ?? '')}=…` })
  else if (shown.row.resumable && status !== 'running') out.push({ text: 'Give the command that began the run again: it continues from here, and pays for nothing twice.' })
  if (status === 'failed') out.push({ text: 'See what failed, and whether the files are whole.', command: `skillopt runs check ${dir}` })
  if (status === 'damaged') out.push({ text: 'See what is damaged.', command: `skillopt runs check ${dir}` })
  if (!s) return out.length > 0 ? out : [{ text: 'Wait for it to end.' }]
  if (s.status === 'completed') {
    if (s.best.step > 0) out.push({ text: s.certificate?.certified ? 'Take the best skill.' : 'Take the best skill, if what is known of it is enough.', command: `skillopt runs export ${dir}` })
    if (s.best.step > 0 && s.certificate && !s.certificate.certified) out.push({ text: 'More test tasks separate a smaller difference from chance.' })
    if (s.best.step === 0) out.push({ text: 'Look at the edits that were rejected and at what fails: the tasks or their checks may ask for what no skill can give.' })
    else out.push({ text: 'See which rules carry their weight.', command: `skillopt ablate --help` })
  }
  if (s.noise?.advice) out.push({ text: s.noise.advice })
  return out
}

/** ceilingOf is the ceiling that a reason names. */
function ceilingOf(reason: string): string {
  return /limits\.(usd|tokens|calls|time)/.exec(reason)?.[1] ?? 'usd'
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
