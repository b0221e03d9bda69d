// Events of a run in a sentence each, for its log.

import type { EventLine } from '../api/types'
import { count, duration, list, plural, points, score, usd } from './format'
import { oneLine } from './visible'
import { action, status, type Tone } from './words'

export interface Said { text: string; tone: Tone | '' }

type Fields = Record<string, unknown>

const num = (v: unknown): number | null => (typeof v === 'number' ? v : null)
/** known writes a number, and that it is not known. */
const known = (v: number | null, as: (v: number) => string = String): string => (v === null ? '?' : as(v))
const many = (v: number | null, one: string, more: string): string => (v === null ? `? ${more}` : plural(v, one, more))
const str = (v: unknown): string => (typeof v === 'string' ? oneLine(v) : '')

function at(e: Fields): string {
  const step = num(e.step) ?? 0
  const epoch = num(e.epoch) ?? 0
  return step > 0 ? `step ${step}` : epoch > 0 ? `end of epoch ${epoch}` : 'before the first step'
}

function stepDone(e: Fields): Said {
  const word = action(str(e.action))
  const best = num(e.best_score)
  const candidate = num(e.candidate_score)
  const difference = num(e.difference)
  const n = num(e.selection_n)
  let text = `step ${known(num(e.step))}: ${word.text}`
  if (candidate !== null && num(e.step) !== 0) text += `, candidate ${score(candidate)}`
  if (difference !== null) text += ` (${points(difference)} points${n ? ` on ${plural(n, 'task', 'tasks')}` : ''})`
  if (best !== null) text += `, best ${score(best)}`
  return { text, tone: word.tone === 'quiet' || word.tone === 'live' ? '' : word.tone === 'bad' ? '' : word.tone }
}

function steered(e: Fields): Said {
  const from = str(e.from) === '' ? '' : ` (asked by ${str(e.from)})`
  if (e.refused) return { text: `a request was refused${from}: ${str(e.refused)}`, tone: 'warn' }
  if (e.what === 'stop') return { text: `asked to stop softly${from}`, tone: 'warn' }
  if (e.what === 'stop_now') return { text: `asked to stop at once${from}`, tone: 'warn' }
  const limits = Object.entries((e.limits as Fields | undefined) ?? {}).map(([k, v]) => `${oneLine(k)} ${v === null ? 'none' : oneLine(String(v))}`)
  return { text: `other ceilings${from}: ${list(limits, 12)}`, tone: '' }
}

const sentences: Record<string, (e: Fields) => Said> = {
  run_started: (e) => ({ text: e.resumed ? `continues, with ${many(num(e.recorded), 'answer', 'answers')} in its record` : `begun: ${known(num(e.train))} train, ${known(num(e.selection))} selection, ${known(num(e.test))} test tasks, ${known(num(e.steps))} steps`, tone: '' }),
  stage_started: (e) => ({ text: `${at(e)}: ${str(e.stage)}${num(e.total) ? `, ${plural(num(e.total)!, 'task', 'tasks')}` : ''}`, tone: '' }),
  step_done: stepDone,
  candidate_judged: (e) => ({ text: `step ${known(num(e.step))}, candidate ${known(num(e.candidate))}: ${action(str(e.action)).text}${num(e.candidate_score) === null ? '' : ` at ${score(num(e.candidate_score)!)}`}`, tone: '' }),
  epoch_done: (e) => ({ text: `end of epoch ${known(num(e.epoch))}: slow update ${e.slow_update ? action(str(e.slow_update)).text : 'not made'}${e.meta_skill ? ', meta skill written' : ''}`, tone: '' }),
  gate_read: (e) => ({ text: `${at(e)}: the gate ${action(str(e.action)).text} after ${known(num(e.units))} of ${known(num(e.of))} (${many(num(e.wins), 'win', 'wins')}, ${many(num(e.losses), 'loss', 'losses')}, ${many(num(e.ties), 'tie', 'ties')})`, tone: '' }),
  stopped: (e) => ({ text: str(e.words), tone: '' }),
  test_done: (e) => ({ text: `test, ${str(e.arm)}: ${known(num(e.hard), score)}${num(e.tasks) === null ? '' : ` on ${plural(num(e.tasks)!, 'task', 'tasks')}`}`, tone: '' }),
  noise_floor: (e) => ({ text: `noise: ${many(num(e.twice), 'task', 'tasks')} asked twice, ${many(num(e.flips), 'answer', 'answers')} changed; ${num(e.minimum_detectable_effect) === null ? 'noise cannot be measured with this skill' : `a difference of ${(100 * num(e.minimum_detectable_effect)!).toFixed(1)} points can be seen`}`, tone: '' }),
  certificate: (e) => ({ text: str(e.words), tone: e.certified ? 'good' : '' }),
  compared: (e) => ({ text: `after pass ${known(num(e.pass))}: ${many(num(e.pairs), 'pair', 'pairs')}, ${num(e.difference) === null ? 'no difference known' : `${points(num(e.difference)!)} points`}, ${str(e.verdict).replaceAll('_', ' ')}`, tone: '' }),
  warning: (e) => ({ text: str(e.text), tone: 'warn' }),
  waiting: (e) => ({ text: `${str(e.endpoint)} (${str(e.model)}) gives nothing but failures for ${known(num(e.failing_s), duration)}: ${str(e.reason)}`, tone: 'warn' }),
  refusals: (e) => ({ text: `${str(e.endpoint)}: ${many(num(e.count), 'attempt', 'attempts')} without a result (${str(e.code).replaceAll('_', ' ')})${num(e.limit) ? `, at most ${num(e.limit)} at once now` : ''}`, tone: 'warn' }),
  steered,
  damaged: (e) => ({ text: `damaged: ${str(e.text) || 'events cannot be read'}${str(e.file) === '' ? '' : ` (${str(e.file)}${num(e.line) ? `, line ${num(e.line)}` : ''})`}`, tone: 'bad' }),
  run_done: (e) => ({ text: `${status(str(e.status)).text} after ${known(num(e.wall_s), duration)}${e.reason ? `: ${str(e.reason)}` : ''}`, tone: e.status === 'completed' ? 'good' : 'warn' }),
  outcome: (e) => ({ text: `${at(e)}: ${str(e.stage)} of ${str(e.task)}: ${num(e.hard) === null ? 'not measured' : score(num(e.hard)!)}`, tone: '' }),
  progress: (e) => ({ text: `${str(e.stage)}: ${known(num(e.calls), count)} calls${num(e.cost_usd) === null ? '' : `, ${usd(num(e.cost_usd)!)}`}`, tone: '' }),
}

/** describe says an event in a sentence. One of a newer version is shown as it is. */
export function describe(e: EventLine): Said {
  const known = sentences[e.event]
  if (known) return known(e)
  const { seq: _n, event, time: _t, ...rest } = e
  return { text: oneLine(`${event} ${JSON.stringify(rest)}`).slice(0, 500), tone: '' }
}
