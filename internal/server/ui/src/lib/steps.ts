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
  const best = steps.at(-1)?.best_step ?? 0
  const out: StepRow[] = []
  steps.forEach((s, i) => {
    out.push({
      id: String(s.step), title: s.step === 0 ? 'seed' : `step ${s.step}`, action: s.action,
      score: s.step === 0 ? s.best_score : s.candidate_gate_score, difference: s.difference ?? null, n: s.step === 0 ? 0 : s.selection_n,
      edits: s.edits?.length ?? 0, best: s.step === best, epoch: null,
    })
    if (s.step === 0 || steps[i + 1]?.epoch === s.epoch) return
    for (const e of h.epochs ?? []) {
      if (e.epoch !== s.epoch) continue
      out.push({ id: `epoch-${e.epoch}`, title: `end of epoch ${e.epoch}`, action: e.slow_update ?? '', score: e.slow_update_score ?? null, difference: null, n: 0, edits: 0, best: false, epoch: e })
    }
  })
  return out
}
