// The steps of a run and the ends of its epochs, in the order in which they were decided.

import type { EpochRecord, History } from '../api/types'

export interface StepRow {
  id: string // as in the address: 3, epoch-2
  title: string
  action: string
  score: number | null
  difference: number | null
  n: number
  edits: number
  best: boolean
  epoch: EpochRecord | null
}

export function rowsOf(h: History): StepRow[] {
  const steps = h.steps ?? []
  const best = bestId(h)
  const out: StepRow[] = []
  steps.forEach((s, i) => {
    out.push({
      id: String(s.step), title: s.step === 0 ? 'seed' : `step ${s.step}`, action: s.action,
      score: s.step === 0 ? s.best_score : s.candidate_gate_score, difference: s.difference ?? null, n: s.step === 0 ? 0 : s.selection_n,
      edits: s.edits?.length ?? 0, best: String(s.step) === best, epoch: null,
    })
    if (s.step === 0 || steps[i + 1]?.epoch === s.epoch) return
    for (const e of h.epochs ?? []) {
      if (e.epoch !== s.epoch) continue
      out.push({ id: `epoch-${e.epoch}`, title: `end of epoch ${e.epoch}`, action: e.slow_update ?? '', score: e.slow_update_score ?? null, difference: null, n: 0, edits: 0, best: best === `epoch-${e.epoch}`, epoch: e })
    }
  })
  return out
}

/** bestId is the row after which the best skill stood. */
function bestId(h: History): string {
  const taken = (h.epochs ?? []).findLast((e) => e.slow_update === 'accept_new_best')
  const last = (h.steps ?? []).at(-1)
  const epoch = /^slow update, epoch (\d+)$/.exec(last?.best_origin ?? '')?.[1]
  // The end of the last epoch comes after the last step, which does not know of it.
  if (taken && last && taken.epoch === last.epoch && h.steps?.findLast((s) => s.epoch === taken.epoch) === last && (last.best_score ?? 0) <= (taken.slow_update_score ?? -1)) return `epoch-${taken.epoch}`
  return epoch !== undefined ? `epoch-${epoch}` : String(last?.best_step ?? 0)
}
