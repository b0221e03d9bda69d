// What a person decides on: requests that edit, score, compare and place skills.

import { get, path, post, put } from './client'
import type { components } from './schema'

type Schemas = components['schemas']

export type Decision = Schemas['Decision']
export type Tune = Schemas['Tune']
export type LineEdit = Schemas['LineEdit']
export type Entry = Schemas['Queued']
export type TaskRow = Schemas['TaskRow']
export type Rescore = Schemas['Rescore']
export type Placed = Schemas['Placed']
export type Candidates = Schemas['Candidates']
export type Candidate = Schemas['Candidate']

export const decide = (id: string, signal?: AbortSignal) => get<Decision>(path(['runs', id, 'decide']), signal)
export const tune = (id: string, what: Tune) => post<Entry>(path(['runs', id, 'tune']), what)
export const versus = (id: string, version: string, other: string, to: string) => post<Entry>(path(['runs', id, 'versus']), { version, ...(other === '' ? {} : { other }), to })
export const taskRow = (id: string, task: string) => get<TaskRow>(path(['runs', id, 'tasks', task, 'row']))
export const writeTaskRow = (id: string, task: string, text: string, sha256: string) => put<TaskRow>(path(['runs', id, 'tasks', task, 'row']), { text, sha256 })
export const rescore = (id: string, tasks: string[]) => post<Rescore>(path(['runs', id, 'rescore']), { tasks })
export const place = (id: string) => post<Placed>(path(['runs', id, 'place']), {})
export const candidates = (id: string, signal?: AbortSignal) => get<Candidates>(path(['runs', id, 'candidates']), signal)
