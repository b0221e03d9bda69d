// Data and options of the charts: which lines there are, from which figures.

import type uPlot from 'uplot'
import type { Course } from './live'
import type { Sum } from './live'
import type { EpochRecord, StepRecord } from '../api/types'
import { clock, points, score, usd } from './format'
import type { Colours } from './colours'
import { wilson } from './stats'
import { action } from './words'

export interface Judged { x: number; score: number; low: number; high: number; code: string }

export interface Scores {
  data: uPlot.AlignedData // step, best score, mean of the train batch
  judged: Judged[] // the candidates that were scored
}

/** scores are the figures of the chart of scores by step. */
export function scores(steps: StepRecord[], epochs: EpochRecord[]): Scores {
  const x: number[] = []
  const best: (number | null)[] = []
  const train: (number | null)[] = []
  const judged: Judged[] = []
  for (const s of steps) {
    x.push(s.step)
    best.push(s.best_score)
    train.push(s.rollout_hard)
    const v = s.candidate_gate_score ?? (s.step === 0 ? s.best_score : null)
    if (v !== null) {
      const bounds = s.selection_hard !== null ? wilson(s.selection_hard, s.selection_n) : null
      judged.push({ x: s.step, score: v, low: bounds?.[0] ?? v, high: bounds?.[1] ?? v, code: s.action })
    }
  }
  for (const e of epochs) {
    const last = steps.findLast((s) => s.epoch === e.epoch)
    if (e.slow_update_score === null || e.slow_update_score === undefined || !last) continue
    judged.push({ x: last.step + 0.5, score: e.slow_update_score, low: e.slow_update_score, high: e.slow_update_score, code: e.slow_update ?? '' })
  }
  return { data: [x, best, train], judged }
}

const font = '12px system-ui, sans-serif'

function axes(c: Colours, x: uPlot.Axis, y: uPlot.Axis): uPlot.Axis[] {
  const common = { stroke: c.muted, font, labelFont: font, grid: { stroke: c.line, width: 1 }, ticks: { stroke: c.line, width: 1, size: 4 }, gap: 4 }
  return [{ ...common, size: 34, ...x }, { ...common, size: 52, ...y }]
}

/** scoreOptions draws the candidates with their intervals over the lines; their shape says the verdict. */
export function scoreOptions(c: Colours, judged: () => Judged[], planned: () => number): Omit<uPlot.Options, 'width' | 'height'> {
  return {
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { x: { time: false, range: (u) => [-0.5, Math.max(...(u.data[0] ?? []).slice(-1), planned(), 1) + 0.7] }, y: { range: [0, 1.03] } },
    axes: axes(c, { label: 'step', labelSize: 16, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] }, { incrs: [0.1, 0.2, 0.5], values: (_u, vs) => vs.map((v) => v.toFixed(1)) }),
    series: [
      {},
      { stroke: c.accent, width: 2, points: { show: false }, spanGaps: true, paths: stepped },
      { stroke: c.muted, width: 1, dash: [3, 3], points: { show: false }, spanGaps: true },
    ],
    hooks: { draw: [(u) => { for (const j of judged()) drawJudged(u, c, j) }] },
  }
}

/** stepped is a line that stays until the next value: a score is that of a skill until another one takes its place. */
function stepped(u: uPlot, series: number, from: number, to: number): uPlot.Series.Paths {
  const stroke = new Path2D()
  const xs = u.data[0]
  const ys = u.data[series] as (number | null | undefined)[]
  let y: number | null = null
  for (let i = from; i <= to; i++) {
    const v = ys[i]
    if (v === null || v === undefined) continue
    const px = u.valToPos(xs[i]!, 'x', true)
    const py = u.valToPos(v, 'y', true)
    if (y === null) stroke.moveTo(px, py)
    else {
      stroke.lineTo(px, y)
      stroke.lineTo(px, py)
    }
    y = py
  }
  return { stroke }
}

function drawJudged(u: uPlot, c: Colours, j: Judged): void {
  const { ctx } = u
  const ratio = devicePixelRatio
  const x = u.valToPos(j.x, 'x', true)
  const y = u.valToPos(j.score, 'y', true)
  if (x < u.bbox.left - 1 || x > u.bbox.left + u.bbox.width + 1) return
  const tone = action(j.code).tone
  const colour = tone === 'good' ? c.good : tone === 'bad' ? c.bad : c.muted
  const r = 4.5 * ratio
  ctx.save()
  ctx.strokeStyle = colour
  ctx.fillStyle = tone === 'good' ? colour : c.panel
  ctx.lineWidth = 1.5 * ratio
  ctx.setLineDash([])
  if (j.high > j.low) {
    ctx.globalAlpha = 0.7
    ctx.beginPath()
    ctx.moveTo(x, u.valToPos(j.low, 'y', true))
    ctx.lineTo(x, u.valToPos(j.high, 'y', true))
    ctx.stroke()
    ctx.globalAlpha = 1
  }
  ctx.beginPath()
  if (tone === 'good') ctx.arc(x, y, r, 0, 2 * Math.PI)
  else if (tone === 'bad') {
    ctx.moveTo(x - r, y - r)
    ctx.lineTo(x + r, y + r)
    ctx.moveTo(x + r, y - r)
    ctx.lineTo(x - r, y + r)
  } else ctx.rect(x - r * 0.8, y - r * 0.8, r * 1.6, r * 1.6)
  if (tone !== 'bad') ctx.fill()
  ctx.stroke()
  ctx.restore()
}

/** course are the figures of a gate's course: units read, low, difference, high, reject line, accept line. */
export function course(c: Course): uPlot.AlignedData {
  const p = c.points
  return [p.map((e) => e.units), p.map((e) => e.low), p.map((e) => e.high), p.map((e) => e.difference), p.map((e) => e.reject), p.map((e) => e.accept)]
}

export function courseOptions(c: Colours, of: () => number): Omit<uPlot.Options, 'width' | 'height'> {
  const bound = { stroke: c['strong-line'], width: 1, points: { show: false }, spanGaps: true }
  return {
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: (_u, _low, high) => [0, Math.max(of(), high ?? 1, 1)] },
      y: { range: (_u, low, high) => widened(low, high) },
    },
    axes: axes(c, { label: 'tasks read', labelSize: 16 }, { size: 62, values: (_u, vs) => vs.map((v) => (v === 0 ? '0' : points(v).replace(/\.0$/, ''))) }),
    bands: [{ series: [2, 1], fill: withAlpha(c.accent, 0.12) }],
    series: [
      {},
      bound,
      bound,
      { stroke: c.accent, width: 2.5, points: { show: false }, spanGaps: true },
      { stroke: c.bad, width: 1.5, dash: [6, 4], points: { show: false }, spanGaps: true },
      { stroke: c.good, width: 1.5, dash: [2, 3], points: { show: false }, spanGaps: true },
    ],
    hooks: { drawAxes: [(u) => zero(u, c)] },
  }
}

function widened(low: number | null, high: number | null): [number, number] {
  const l = Math.min(low ?? -0.1, 0)
  const h = Math.max(high ?? 0.1, 0)
  const room = Math.max(0.02, (h - l) * 0.08)
  return [Math.max(-1.05, l - room), Math.min(1.05, h + room)]
}

function zero(u: uPlot, c: Colours): void {
  const y = u.valToPos(0, 'y', true)
  const { ctx } = u
  ctx.save()
  ctx.strokeStyle = c.muted
  ctx.lineWidth = devicePixelRatio
  ctx.setLineDash([])
  ctx.beginPath()
  ctx.moveTo(u.bbox.left, y)
  ctx.lineTo(u.bbox.left + u.bbox.width, y)
  ctx.stroke()
  ctx.restore()
}

function withAlpha(hex: string, alpha: number): string {
  return `color-mix(in srgb, ${hex} ${Math.round(100 * alpha)}%, transparent)`
}

/** money are the figures of what was used when: seconds since 1970, and money, or tokens where no price is known. */
export function money(sums: Sum[]): { data: uPlot.AlignedData; unit: 'usd' | 'tokens' } {
  const known = sums.some((s) => s.usd !== null)
  return { data: [sums.map((s) => s.at), sums.map((s) => (known ? s.usd : s.input + s.output))], unit: known ? 'usd' : 'tokens' }
}

export function moneyOptions(c: Colours, unit: 'usd' | 'tokens', short: (v: number) => string): Omit<uPlot.Options, 'width' | 'height'> {
  return {
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { y: { range: (_u, _low, high) => [0, Math.max(high ?? 0, unit === 'usd' ? 0.001 : 1) * 1.08] } },
    axes: axes(c, { values: (_u, vs) => vs.map((v) => clock(new Date(v * 1000).toISOString())), space: 90 }, { size: 60, values: (_u, vs) => vs.map((v) => (unit === 'usd' ? usd(v) : short(v))) }),
    series: [{}, { stroke: c.accent, width: 2, fill: withAlpha(c.accent, 0.1), points: { show: false }, spanGaps: true }],
  }
}

/** scoreWords says a chart of scores in a sentence. */
export function scoreWords(steps: StepRecord[]): string {
  const first = steps.find((s) => s.best_score !== null)
  const last = steps.findLast((s) => s.best_score !== null)
  if (!first || !last) return 'Scores by step: nothing is measured yet.'
  const taken = steps.filter((s) => s.step > 0 && action(s.action).tone === 'good').map((s) => s.step)
  return `Scores by step: the best skill goes from ${score(first.best_score!)} at step ${first.step} to ${score(last.best_score!)} at step ${last.step}; accepted at ${taken.length > 0 ? `step ${taken.join(', ')}` : 'no step'}.`
}

/** curves are the best scores of several runs over all their steps; a run that has ended before has none behind it. */
export function curves(runs: StepRecord[][]): uPlot.AlignedData {
  const x = [...new Set(runs.flat().map((s) => s.step))].sort((a, b) => a - b)
  return [x, ...runs.map((steps) => {
    const at = new Map(steps.map((s) => [s.step, s.best_score]))
    return x.map((step) => at.get(step) ?? null)
  })]
}

export const curveColours = 5

/** curvesOptions draws a stepped line for each run, in its own colour; dashed from where the colours repeat. */
export function curvesOptions(c: Colours, n: number): Omit<uPlot.Options, 'width' | 'height'> {
  const strokes = [c.accent, c.good, c.bad, c.warn, c.muted]
  const { series: _, hooks: __, ...rest } = scoreOptions(c, () => [], () => 0)
  return {
    ...rest,
    series: [{}, ...Array.from({ length: n }, (_x, i) => ({ stroke: strokes[i % curveColours], width: 2, points: { show: true, size: 4 }, spanGaps: true, paths: stepped, ...(i < curveColours ? {} : { dash: [5, 3] }) }))],
  }
}
