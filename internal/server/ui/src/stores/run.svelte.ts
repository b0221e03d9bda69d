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
    $effect(() => {
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

  /** steerable: it can be stopped and its ceilings changed from here. */
  get steerable(): boolean {
    return this.atWork && !session.readOnly && !this.shown.value?.row.copy
  }

  /** version changes whenever views should look again. */
  get version(): number {
    return this.live?.decided ?? 0
  }
}

export function openRun(): OpenRun {
  return getContext<OpenRun>(key)
}
