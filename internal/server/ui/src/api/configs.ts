// The addresses of configs: what begins a run. The form alone needs them, so they are no part of the first view.

import { get, path, post, postForm, put } from './client'
import type { components } from './schema'
import type { Interval } from './types'

type Schemas = components['schemas']

// Lists of these may be null where they are empty.
export type Start = Schemas['Start'] & { projects?: { path: string }[] }
export type ModelName = Schemas['ServedModel']
export type ConfigShown = Schemas['ConfigFile']
export type Value = unknown
export interface Problem { file?: string; key?: string; line?: number; task?: string; message: string; help?: string }

/** A JSON Schema, as far as that of the configuration uses it. */
export interface Schema {
  type?: string | string[]
  description?: string
  enum?: string[]
  minimum?: number
  maximum?: number
  untrusted?: string
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: boolean | Schema
  anyOf?: Schema[]
}

export interface SkillFinding { file: string; line?: number; severity: string; message: string }
export interface TaskTable { file: string; columns: { name: string; fields?: string[]; used: boolean }[] }
export interface Linted {
  tasks: { tasks: number; train: number; selection: number; test: number; tables?: TaskTable[]; findings: Problem[] | null } | null
  skill: { findings: SkillFinding[] | null } | null
  problems: Problem[] | null // why they cannot be read
}
export interface Planned {
  total: number
  simulated: boolean
  steps?: number
  selection?: number
  forecast?: { calls: Interval; input_tokens: Interval; output_tokens: Interval; cost_usd: Interval | null; time_s: Interval | null; basis: string } | null
  warnings?: string[]
}
export interface Examined { rows: { name: string; ok: boolean; skipped?: boolean; warning?: boolean; detail: string; mend?: string }[] }
export interface Said { role: string; text: string }
export interface Tried {
  evaluations: {
    task: string
    outcome: { status: string; hard: number | null; answer?: string; extracted?: string; fail_reason?: string; question?: string; reference?: string; message?: string }
    conversation?: { messages?: Said[]; reply: { text: string } } | null
  }[]
}
export interface Entry { id: string; state: string; run: string; title: string; error?: string }

export const start = (signal?: AbortSignal) => get<Start>(path(['start']), signal)
export const schema = (signal?: AbortSignal) => get<Schema>(path(['schema']), signal)
export const create = (form: FormData) => postForm<ConfigShown>(path(['configs']), form)
export const read = (id: string, signal?: AbortSignal) => get<ConfigShown>(path(['configs', id]), signal)
export const check = (id: string, text: string, set: Record<string, Value>) => post<ConfigShown>(path(['configs', id, 'check']), { text, set })
export const save = (id: string, text: string, sha256: string) => put<ConfigShown>(path(['configs', id]), { text, sha256 })
export const lint = (id: string) => post<Linted>(path(['configs', id, 'lint']), {})
export const plan = (id: string) => post<Planned>(path(['configs', id, 'plan']), {})
export const doctor = (id: string) => post<Examined>(path(['configs', id, 'doctor']), {})
export const attempt = (id: string) => post<Tried>(path(['configs', id, 'try']), { number: 3 })
export const begin = (id: string) => post<Entry>(path(['configs', id, 'start']), {})
