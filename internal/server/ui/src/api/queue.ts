// The addresses of the queue, and of what begins a run from another one.

import { get, path, post } from './client'
import type { Queue, Queued } from './types'

export const queue = (signal?: AbortSignal) => get<Queue>(path(['queue']), signal)
export const unqueue = (entry: string) => post<Queue>(path(['queue', entry, 'remove']), {})
export const resume = (run: string) => post<Queued>(path(['runs', run, 'resume']), {})
export const goOn = (run: string, epochs: string) => post<Queued>(path(['runs', run, 'continue']), { epochs })
export const fork = (run: string, step: number) => post<{ config: string }>(path(['runs', run, 'fork']), { step })
