// A night in words and rows: what it could do, what it came to, and what was answered in both arms.

import type { Interval, MineCount, NightAnswer, NightCan, NightEdit, NightGroups, NightFunnel, NightPlaced, NightRule, NightShown, NightTarget, NightWords } from '../api/types'
import { count, fixed, plural } from './format'
import { groupBy } from './group'
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
function wordOf(known: Record<string, Word>, code: string): Word {
  return Object.hasOwn(known, code) ? known[code]! : { text: cut(oneLine(code).replaceAll('_', ' '), 40).head, tone: 'quiet', title: '' }
}

/** precise is a level or an evidence with three digits, as the terminal has it. */
export function precise(v: number): string {
  return String(Number(v.toPrecision(3)))
}

export function groupsText(c: NightGroups): string {
  let text = `${plural(c.open, 'independent task', 'independent tasks')} open (${c.tonight} tonight, ${c.recalled} recalled), ${c.fresh} fresh for the test`
  if (c.waiting > 0) text += `, ${c.waiting} waiting`
  if (c.asleep > 0) text += `, ${c.asleep} asleep`
  if (c.unreviewed > 0) text += `; ${c.unreviewed} unreviewed`
  return text
}

const does: Record<string, string> = {
  observe: 'observes: it scores the document as it is, measures its noise and asks for suggestions',
  train: 'trains, and confirms the result on fresh answers, without a test',
  'train and test': 'trains, confirms, and opens the test tasks that were put aside',
}

export function doesText(can: NightCan): string {
  return Object.hasOwn(does, can.does) ? does[can.does]! : can.does
}

/** neededText says how many fresh tasks certify; 0 is that no number does. */
export function neededText(can: NightCan): string {
  if (can.needed === 0) return `no number of fresh tasks certifies at level ${precise(can.level)}`
  return `${plural(can.needed, 'fresh independent task', 'fresh independent tasks')}, all won, certify at level ${precise(can.level)}`
}

/** powerText says how likely a gain is certified with the tasks that there are. */
export function powerText(p: { gain: number; found: number }): string {
  return `of ${fixed(p.gain, 1)} in ${fixed(100 * p.found, 0)} %`
}

/** command writes a command of a night, if its name is one that nights have: another could do anything in a terminal. */
export function command(what: string, night: string): string | null {
  return /^\d{8}-\d{6}(-\d{1,4})?$/.test(night) ? `skillopt sleep ${what} ${night}` : null
}

const verdicts: Record<string, Word> = {
  stands: { text: 'stands', tone: 'good', title: 'Nothing shows that all of it together is worse than what is live.' },
  worse: { text: 'worse', tone: 'bad', title: 'All of it together would be worse than what is live, or lose what was won: it is suggested at most.' },
  skipped: { text: 'not compared', tone: 'warn', title: 'It was not compared as a whole.' },
}

/** bundled says what the last confirmation of a night found. */
export function bundled(code: string): Word {
  return wordOf(verdicts, code)
}

const fares: Record<string, Word> = {
  open: { text: 'open', tone: 'quiet', title: 'The evidence says neither yet.' },
  better: { text: 'better', tone: 'good', title: 'With it new tasks are solved more often than without.' },
  worse: { text: 'worse', tone: 'bad', title: 'With it new tasks are solved less often: a rollback is proposed.' },
  gone: { text: 'gone', tone: 'quiet', title: 'Nothing of it is in the document.' },
  unknown: { text: 'unknown', tone: 'warn', title: 'What the document would be without it is not known.' },
}

/** since says how an adopted text fares. */
export function since(code: string): Word {
  return wordOf(fares, code)
}

/** placeText says where a task is carried out. */
export function placeText(p: NightPlaced): string {
  if (p.unfit !== '') return 'nowhere'
  if (p.in === 'commit') return `the files of commit ${cut(oneLine(p.commit), 12).head}${p.folder && p.folder !== '.' ? `, in ${oneLine(p.folder)}` : ''}`
  return p.in === 'empty' ? 'an empty folder' : p.in === 'chat' ? 'a conversation, without an agent' : cut(oneLine(p.in), 40).head
}

/** expected is a figure of a forecast, and what it may be. */
export function expected(i: Interval): string {
  return `${count(Math.round(i.expected))} (${count(Math.round(i.low))} to ${count(Math.round(i.high))})`
}

export interface Stage { name: string; n: number; of?: MineCount[]; what: string }

/** funnelStages are how sessions became tasks, one stage a row. */
export function funnelStages(f: NightFunnel): Stage[] {
  return [
    { name: 'Sessions', n: f.sessions, what: 'that were looked at' },
    ...(f.left_out ?? []).map((c) => ({ name: 'left out', n: c.n, of: [c], what: `that ${c.reason}` })),
    { name: 'Candidates', n: f.candidates, what: 'sessions that show an outcome' },
    { name: 'Asked', n: f.asked, what: 'sessions that a model was asked about' },
    { name: 'Proposed', n: f.proposed, what: 'tasks' },
    ...(f.fell ?? []).map((c) => ({ name: 'fell', n: c.n, of: [c], what: `that ${c.reason}` })),
    { name: 'Merged', n: f.merged, what: 'into one that was shown before' },
    { name: 'Kept', n: f.kept, what: 'tasks' },
    { name: 'held', n: f.held, what: 'of these: for a person to look at first' },
    { name: 'not replayable', n: f.unfit, what: 'of these: cannot be carried out again' },
  ]
}

/** Both answers to one task of a comparison. */
export interface Answered { target: string; run: string; id: string; kind: string; live: NightAnswer | null; proposed: NightAnswer | null }

/** answered sets the answers of both arms beside each other, in the order in which they came. */
export function answered(answers: NightAnswer[]): Answered[] {
  const out: Answered[] = []
  const open = new Map<string, Answered[]>()
  for (const a of answers) {
    const key = JSON.stringify([a.target, a.run, a.id])
    const arm = a.arm === 'proposed' ? 'proposed' : 'live'
    const there = open.get(key) ?? []
    let row = there.find((r) => r[arm] === null) // of several passes the first that waits for it
    if (!row) {
      row = { target: a.target, run: a.run, id: a.id, kind: a.kind, live: null, proposed: null }
      out.push(row)
      open.set(key, [...there, row])
    }
    row[arm] = a
  }
  return out
}

export type Show = '' | 'won' | 'lost' | 'unmeasured'

/** verdict says who won a task; null: an answer was not measured. */
export function verdict(a: Answered): 'won' | 'lost' | 'alike' | null {
  const live = score(a.live)
  const proposed = score(a.proposed)
  if (live === null || proposed === null) return null
  return proposed > live ? 'won' : proposed < live ? 'lost' : 'alike'
}

function score(a: NightAnswer | null): number | null {
  return a === null ? null : a.hard
}

export function chosen(rows: Answered[], show: Show, run: string): Answered[] {
  return rows.filter((r) => {
    if (run !== '' && r.run !== run) return false
    if (show === '') return true
    const v = verdict(r)
    return show === 'unmeasured' ? v === null : v === show
  })
}

/** baseName is the last part of the name of a run. */
export function baseName(run: string): string {
  return run.slice(run.lastIndexOf('/') + 1)
}

/** usageRows are what the runs used: the night calls each without the prefix of its project. */
export function usageRows(n: NightShown): { name: string; run: string; spent: NightShown['by_run'][string] }[] {
  const runs = [...n.mined.runs, ...n.targets.flatMap((t) => t.runs)]
  return Object.entries(n.by_run)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, spent]) => ({ name, spent, run: runs.find((r) => baseName(r).endsWith(`-${name}`)) ?? '' }))
}

/** nothing says why a night without documents came to nothing. */
export function nothing(n: NightShown): string {
  if (n.skipped.length > 0) return 'No document could be found for the tasks that there are.'
  if (n.mined.sessions === 0) return 'There was no new session of the project, and no task to continue with.'
  return 'No task came out of the new sessions.'
}

/** stagedOf is the text that is staged for a document; null: there is none. */
export function stagedOf(n: NightShown, t: NightTarget) {
  return n.staged.find((s) => s.target === t.target) ?? null
}

/** The rules of a step with equal grounds. */
export interface RuleGroup { tasks: string[]; won: string[]; rules: NightRule[] }
export interface StepRules { step: number; difference: number | null; groups: RuleGroup[] }

/** rulesByStep puts rules together by step, and within a step by the tasks that they come from. */
export function rulesByStep(rules: NightRule[]): StepRules[] {
  return [...groupBy(rules, (r) => r.step)].map(([step, of]) => ({
    step,
    difference: of[0]?.difference ?? null,
    groups: [...groupBy(of, (r) => JSON.stringify([r.tasks, r.won ?? []])).values()].map((g) => ({ tasks: g[0]!.tasks, won: g[0]!.won ?? [], rules: g })),
  }))
}

export interface StepEdits { step: number; action: string; difference: number | null; edits: NightEdit[] }

/** editsByStep puts edits together by step, in their order. */
export function editsByStep(edits: NightEdit[]): StepEdits[] {
  return [...groupBy(edits, (e) => e.step)].map(([step, of]) => ({ step, action: of[0]!.action, difference: of[0]!.difference, edits: of }))
}

/** Words of a user, and how many tasks had the same. */
export interface Said { said: string; asked: string; n: number; won: number }

/** saidOf are the words that tasks come from, the most frequent first. Without a correction it is what was asked. */
export function saidOf(tasks: string[], won: string[], words: NightWords[]): Said[] {
  const of = words.filter((w) => tasks.includes(w.task))
  return [...groupBy(of, (w) => w.said || w.asked).values()]
    .map((g) => ({ said: g[0]!.said, asked: g[0]!.asked, n: g.length, won: g.filter((w) => won.includes(w.task)).length }))
    .sort((a, b) => b.n - a.n)
}
