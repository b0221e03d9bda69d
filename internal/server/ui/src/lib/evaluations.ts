// Which answers to a task stand side by side.

import type { TaskEvaluation } from '../api/types'

/** nameOf is how an address names an evaluation: STEP:ARM, and the sample if it is not the first. */
export function nameOf(e: TaskEvaluation): string {
  return `${e.step}:${e.arm ?? e.at}${e.sample > 0 ? `:${e.sample}` : ''}`
}

/** find is the place of the evaluation that an address names: by its name, or by its step alone; -1: there is none. */
export function find(all: TaskEvaluation[], name: string | undefined): number {
  if (name === undefined || name === '') return -1
  const exact = all.findIndex((e) => nameOf(e) === name)
  if (exact >= 0) return exact
  const [step] = name.split(':')
  if (step === undefined || !/^\d+$/.test(step)) return -1
  const of = all.flatMap((e, i) => (e.step === Number(step) && e.outcome?.status !== 'unmeasured' ? [i] : []))
  return of[0] ?? all.findIndex((e) => e.step === Number(step))
}

/** sides are the two that are shown when nothing is asked for: the first and the last that were measured. */
export function sides(all: TaskEvaluation[], left: string | undefined, right: string | undefined): [number, number] {
  const measured = all.flatMap((e, i) => (e.outcome && e.outcome.status !== 'unmeasured' ? [i] : []))
  const l = find(all, left)
  const r = find(all, right)
  return [l >= 0 ? l : (measured[0] ?? 0), r >= 0 ? r : (measured.at(-1) ?? Math.max(0, all.length - 1))]
}

/** result says an evaluation in a word, with the shape that stands for it. */
export function result(e: TaskEvaluation): { shape: string; text: string; tone: 'good' | 'bad' | 'quiet' | 'warn' } {
  if (e.open) return { shape: '…', text: 'open', tone: 'quiet' }
  const o = e.outcome
  if (!o) return { shape: '–', text: 'no outcome was written down', tone: 'quiet' }
  if (o.status === 'unmeasured') return { shape: '?', text: 'not measured', tone: 'quiet' }
  if (o.status === 'agent_error') return { shape: '△', text: 'error of the agent', tone: 'bad' }
  if (o.hard >= 1) return { shape: '■', text: 'passed', tone: 'good' }
  if (o.soft > 0 || o.hard > 0) return { shape: '◧', text: `partly right (${o.soft.toFixed(2)})`, tone: 'warn' }
  return { shape: '✕', text: 'failed', tone: 'bad' }
}
