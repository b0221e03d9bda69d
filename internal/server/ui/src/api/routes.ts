// The addresses of the API, a function each.

import { get, path, post, put } from './client'
import type {
  Blame, CallsListed, Conversation, Difference, Failures, Grid, Listing, MinedEdit, MinedTask, NightShown, Notes, Proposal, Progress, RunShown, RunsCompared, Server, SkillFiles, Spending, Steered, StepDetail, TaskShown, Try, Versions,
} from './types'

export const logIn = (token: string) => post<void>(path(['session']), { token })
export const server = (signal?: AbortSignal) => get<Server>(path(['server']), signal)
export const runs = (signal?: AbortSignal) => get<Listing>(path(['runs']), signal)
export const run = (id: string, signal?: AbortSignal) => get<RunShown>(path(['runs', id]), signal)
export const night = (id: string, signal?: AbortSignal) => get<NightShown>(path(['nights', id]), signal)
export const proposal = (id: string, signal?: AbortSignal) => get<Proposal>(path(['nights', id, 'proposal']), signal)
export const adopt = (id: string, target: string, hash: string) => post<{ number: number }>(path(['nights', id, 'adopt']), { target, hash })
export const review = (signal?: AbortSignal) => get<{ tasks: MinedTask[] }>(path(['review']), signal)
export const decide = (said: { accept?: string[]; reject?: string[]; edit?: MinedEdit[] }) => post<{ accepted: number; rejected: number }>(path(['review']), said)
export const progress = (id: string, signal?: AbortSignal) => get<Progress>(path(['runs', id, 'progress']), signal)
export const events = (id: string, after: number) => path(['runs', id, 'events'], { after })
export const versions = (id: string, signal?: AbortSignal) => get<Versions>(path(['runs', id, 'versions']), signal)
export const skill = (id: string, version: string, signal?: AbortSignal) => get<SkillFiles>(path(['runs', id, 'skill'], { version }), signal)
export const skillFile = (id: string, version: string, file: string) => path(['runs', id, 'skill', 'file'], { version, path: file })
export const diff = (id: string, from: string, to: string, other = '', signal?: AbortSignal) =>
  get<Difference>(path(['runs', id, 'diff'], { from, to, other }), signal)
export const blame = (id: string, version: string, signal?: AbortSignal) => get<Blame>(path(['runs', id, 'blame'], { version }), signal)
export const step = (id: string, n: number, signal?: AbortSignal) => get<StepDetail>(path(['runs', id, 'steps', String(n)]), signal)
export const grid = (id: string, signal?: AbortSignal) => get<Grid>(path(['runs', id, 'grid']), signal)
export const task = (id: string, name: string, prompt: boolean, signal?: AbortSignal) =>
  get<TaskShown>(path(['runs', id, 'tasks', name], { prompt: prompt ? 1 : undefined }), signal)
export const failures = (id: string, signal?: AbortSignal) => get<Failures>(path(['runs', id, 'failures']), signal)
export const spend = (id: string, signal?: AbortSignal) => get<Spending>(path(['runs', id, 'spend']), signal)
export interface CallsAsked { stage?: string; failed?: boolean; episodes?: boolean; before?: number; limit?: number }
export const calls = (id: string, asked: CallsAsked, signal?: AbortSignal) =>
  get<CallsListed>(path(['runs', id, 'calls'], { limit: 100, ...asked, failed: asked.failed || undefined, episodes: asked.episodes || undefined }), signal)
/** One call whole, or what was said inside an episode. */
export const call = (id: string, key: string, signal?: AbortSignal) => get<Conversation | { attempts: Try[] }>(path(['runs', id, 'calls'], { key }), signal)
export const config = (id: string, signal?: AbortSignal) => get<{ text: string; set: string[] }>(path(['runs', id, 'config']), signal)
export const saveNotes = (id: string, notes: Notes) => put<Notes>(path(['runs', id, 'notes']), notes)
export const stop = (id: string, now: boolean) => post<Steered>(path(['runs', id, 'stop']), { now })
export const remove = (id: string) => post<{ trash: string }>(path(['runs', id, 'remove']), {})

export interface Limits { usd?: number | null; tokens?: number | null; calls?: number | null; time?: string | null }
export const limit = (id: string, limits: Limits) => post<Steered>(path(['runs', id, 'limits']), limits)

export const compare = (ids: string[], signal?: AbortSignal) =>
  get<RunsCompared>(`${path(['compare'])}?${ids.map((id) => `run=${encodeURIComponent(id)}`).join('&')}`, signal)
