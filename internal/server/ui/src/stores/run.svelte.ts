// The run that is open: its document, and what comes while it is at work. All views of a
// run share one, so that it is followed once.

import { getContext, setContext } from 'svelte'
import * as api from '../api/routes'
import type { RunShown } from '../api/types'
import { Live } from './live.svelte'
import { Loaded } from './loaded.svelte'
import { session } from './session.svelte'

const key = Symbol('run')

export class OpenRun {
  id: string
  shown: Loaded<RunShown>
  live = $state.raw<Live | null>(null)

  constructor(id: string) {
    this.id = id
    this.shown = new Loaded(() => id, (signal) => api.run(id, signal))
    const there = $derived(this.shown.value !== null)
    $effect(() => {
      if (!there) return
      const live = new Live(id)
      this.live = live
      return () => live.close()
    })
    $effect(() => {
      if ((this.live?.decided ?? 0) > 0) void this.shown.again()
    })
    setContext(key, this)
  }

  /** atWork: a process works on it, as far as is known. */
  get atWork(): boolean {
    const p = this.live?.progress
    if (p) return p.status === 'running' && !p.killed
    const row = this.shown.value?.row
    return row?.status === 'running'
  }

  /** status is the newest that is known. */
  get status(): string {
    const p = this.live?.progress
    if (p) return p.killed ? 'killed' : p.status
    return this.shown.value?.row.status ?? ''
  }

  /** stoppable: it can be stopped from here. */
  get stoppable(): boolean {
    return this.atWork && this.#ours
  }

  /** limitable: its ceilings can be changed from here, for this session or the next one. */
  get limitable(): boolean {
    const row = this.shown.value?.row
    return this.#ours && (this.atWork || (row?.resumable ?? false))
  }

  get #ours(): boolean {
    const row = this.shown.value?.row
    return !session.readOnly && row !== undefined && !row.copy
  }

  /** version changes whenever views should look again. */
  get version(): number {
    return this.live?.decided ?? 0
  }
}

export function openRun(): OpenRun {
  return getContext<OpenRun>(key)
}
