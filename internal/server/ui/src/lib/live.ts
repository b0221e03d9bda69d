// What the events of a run add up to while somebody looks at it. It is folded one event at
// a time, and keeps a bounded amount whatever comes.

import type { EventLine, GateRead, InFlightCalls } from '../api/types'

const gatesKept = 24
const logKept = 2000
const pointsKept = 4000
const endpointsKept = 64

/** Course is how a gate has read one candidate. */
export interface Course {
  key: string
  step: number
  epoch: number
  gate: string
  of: number
  points: GateRead[]
  action: string
  reason: string
}

export interface Endpoint {
  name: string
  model: string
  limit: number | null
  refused: Record<string, number>
  waiting: { reason: string; failing: number; patience: number } | null
}

export interface Stage { epoch: number; step: number; stage: string; done: number; total: number }

/** Sum is what the run had used when. */
export interface Sum { at: number; calls: number; input: number; output: number; usd: number | null }

export class Fold {
  courses: Course[] = [] // oldest first
  log: EventLine[] = [] // oldest first, without those that come often
  forgotten = 0 // lines of the log that were let go
  endpoints: Endpoint[] = []
  inFlight: InFlightCalls[] | null = null // null: not known
  limit: number | null = null
  stage: Stage | null = null
  sums: Sum[] = []
  outcomes = { passed: 0, failed: 0, unmeasured: 0, errors: 0 }
  steps: EventLine[] = [] // step_done

  add(e: EventLine): void {
    switch (e.event) {
      case 'gate_read':
        return this.#gate(e)
      case 'in_flight':
        this.inFlight = Array.isArray(e.calls) ? e.calls.map(calls).filter((c) => c !== null) : []
        this.limit = num(e.limit)
        return
      case 'outcome':
        return this.#outcome(e)
      case 'progress':
        return this.#progress(e)
      case 'refusals':
        this.#refusals(e)
        break
      case 'waiting':
        this.#endpoint(str(e.endpoint), str(e.model)).waiting = { reason: str(e.reason), failing: num(e.failing_s) ?? 0, patience: num(e.patience_s) ?? 0 }
        break
      case 'stage_started':
        this.stage = { epoch: num(e.epoch) ?? 0, step: num(e.step) ?? 0, stage: str(e.stage), done: 0, total: num(e.total) ?? 0 }
        break
      case 'step_done':
        this.steps.push(e)
        break
      case 'run_done':
        this.inFlight = []
        this.stage = null
        for (const p of this.endpoints) p.waiting = null
        break
    }
    this.#keep(e)
  }

  #keep(e: EventLine): void {
    this.log.push(e)
    if (this.log.length > logKept + 200) {
      this.forgotten += this.log.length - logKept
      this.log = this.log.slice(-logKept)
    }
  }

  #gate(line: EventLine): void {
    const e = gateRead(line)
    if (e === null) return this.#keep(line)
    let c = this.courses.findLast((c) => c.key === e.key)
    const before = c?.points.at(-1)
    if (!c || (before && (e.units < before.units && e.phase === before.phase))) { // read anew, after a resume
      c = { key: e.key, step: e.step, epoch: e.epoch ?? 0, gate: e.gate, of: e.of, points: [], action: '', reason: '' }
      this.courses = [...this.courses.filter((o) => o.key !== e.key), c].slice(-gatesKept)
    }
    c.of = e.of
    if (c.points.length >= pointsKept) c.points = c.points.filter((_, i) => i % 2 === 0)
    c.points.push(e)
    if (e.action) {
      c.action = e.action
      c.reason = e.reason ?? ''
      this.#keep(e)
    }
  }

  #outcome(e: EventLine): void {
    const hard = num(e.hard)
    if (e.status === 'unmeasured' || hard === null) this.outcomes.unmeasured++
    else if (e.status === 'agent_error') this.outcomes.errors++
    else if (hard >= 1) this.outcomes.passed++
    else this.outcomes.failed++
  }

  #progress(e: EventLine): void {
    const total = num(e.total) ?? 0
    if (total > 0) this.stage = { epoch: this.stage?.epoch ?? 0, step: this.stage?.step ?? 0, stage: str(e.stage), done: num(e.done) ?? 0, total }
    for (const p of this.endpoints) p.waiting = null // something was answered
    const before = this.sums.at(-1)
    if (before && (num(e.calls) ?? 0) < before.calls) return // it was said before the session knew what the run had used
    this.sums.push({ at: Date.parse(e.time) / 1000, calls: num(e.calls) ?? 0, input: num(e.input_tokens) ?? 0, output: num(e.output_tokens) ?? 0, usd: num(e.cost_usd) })
    if (this.sums.length > pointsKept) this.sums = this.sums.filter((_, i) => i % 2 === 0)
  }

  #refusals(e: EventLine): void {
    const p = this.#endpoint(str(e.endpoint), str(e.model))
    const code = str(e.code)
    p.refused[code] = (p.refused[code] ?? 0) + (num(e.count) ?? 1)
    p.limit = num(e.limit) ?? p.limit
  }

  #endpoint(name: string, model: string): Endpoint {
    let p = this.endpoints.find((p) => p.name === name && p.model === model)
    if (!p) {
      p = { name, model, limit: null, refused: {}, waiting: null }
      this.endpoints = [...this.endpoints, p].slice(-endpointsKept)
    }
    return p
  }
}

const tries: Record<string, string> = { second: 'second try', half1: 'first half', half2: 'second half', drift: 'after a drift' }

/** courseName names a course by its step, and by its try if it is not the first one. */
export function courseName(c: Course): string {
  const named = c.key.split('/').flatMap((part) => tries[part] ?? [])
  return [`step ${c.step}`, ...named].join(', ')
}

/** calls reads a part of what is in flight; null: it is none. */
function calls(v: unknown): InFlightCalls | null {
  const c = (typeof v === 'object' && v !== null ? v : {}) as Record<string, unknown>
  const n = num(c.calls)
  return n === null ? null : { stage: str(c.stage), role: str(c.role), model: str(c.model), endpoint: str(c.endpoint), calls: n, oldest_s: num(c.oldest_s) ?? 0 }
}

/** gateRead reads how far a gate is; null: the line does not say. */
function gateRead(e: EventLine): GateRead | null {
  const [units, of, step] = [num(e.units), num(e.of), num(e.step)]
  if (units === null || of === null || step === null) return null
  return {
    ...e, key: str(e.key), units, of, step, epoch: num(e.epoch) ?? 0, gate: str(e.gate), phase: str(e.phase), wins: num(e.wins) ?? 0, losses: num(e.losses) ?? 0, ties: num(e.ties) ?? 0, missing: num(e.missing) ?? 0,
    difference: num(e.difference), low: num(e.low), high: num(e.high), reject: num(e.reject), accept: num(e.accept), action: str(e.action), reason: str(e.reason),
  } as GateRead
}

function num(v: unknown): number | null {
  return typeof v === 'number' ? v : null
}

function str(v: unknown): string {
  return typeof v === 'string' ? v : ''
}
