// The addresses of configs: what begins a run. The form alone needs them, so they are no part of the first view.

import { get, path, post, postForm, put } from './client'
import type { components } from './schema'

type Schemas = components['schemas']

// Lists of these may be null where they are empty.
export type Start = Schemas['Start']
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

export type Linted = Schemas['Lint']
export type Planned = Schemas['ResultPlan']
export type Examined = Schemas['Examination']
export type Tried = Schemas['Tried']
export interface Entry { id: string; state: string; run: string; title: string; error?: string }

const long = 660_000 // ms: of a command that the server waits for

export const start = (signal?: AbortSignal) => get<Start>(path(['start']), signal)
export const schema = (signal?: AbortSignal) => get<Schema>(path(['schema']), signal)
export const projects = (signal?: AbortSignal) => get<Schemas['Projects']>(path(['projects']), signal)
export const create = (form: FormData) => postForm<ConfigShown>(path(['configs']), form, long)
export const read = (id: string, signal?: AbortSignal) => get<ConfigShown>(path(['configs', id]), signal)
export const check = (id: string, text: string, set: Record<string, Value>) => post<ConfigShown>(path(['configs', id, 'check']), { text, set })
export const save = (id: string, text: string, sha256: string) => put<ConfigShown>(path(['configs', id]), { text, sha256 })
export const lint = (id: string) => post<Linted>(path(['configs', id, 'lint']), {}, long)
export const plan = (id: string) => post<Planned>(path(['configs', id, 'plan']), {}, long)
export const doctor = (id: string) => post<Examined>(path(['configs', id, 'doctor']), {}, long)
export const attempt = (id: string) => post<Tried>(path(['configs', id, 'try']), { number: 3 }, long)
export const begin = (id: string) => post<Entry>(path(['configs', id, 'start']), {})
