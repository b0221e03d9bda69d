// What a run used, summed up by what the reader asks for. A sum of which a part is not known is not known.

import type { Participant, StageUsage } from '../api/types'

export interface Used { name: string; note: string; calls: number; input: number; output: number; cached: number; usd: number | null }

export type By = 'stage' | 'role' | 'model'

export function modelOf(models: Participant[], role: string): string {
  const p = models.find((m) => m.role === role)
  return p ? [p.provider, p.model || p.name].filter((t) => t).join(' ') || role : role
}

export function used(stages: StageUsage[], models: Participant[], by: By): Used[] {
  const out = new Map<string, Used>()
  for (const s of stages) {
    const name = by === 'role' ? s.role : by === 'model' ? modelOf(models, s.role) : s.stage
    const key = by === 'stage' ? `${s.stage}/${s.role}` : name
    const u = out.get(key) ?? { name, note: by === 'stage' ? s.role : '', calls: 0, input: 0, output: 0, cached: 0, usd: 0 }
    u.calls += s.calls
    u.input += s.input_tokens
    u.output += s.output_tokens
    u.cached += s.cached_tokens
    u.usd = u.usd === null || s.cost_usd === null ? null : u.usd + s.cost_usd
    out.set(key, u)
  }
  return [...out.values()].sort((a, b) => (b.usd ?? 0) - (a.usd ?? 0) || b.input + b.output - (a.input + a.output))
}
