// The list of runs, with its filter and the runs chosen for comparison.

import { ApiError } from '../api/client'
import * as api from '../api/routes'
import type { Listing, Notes } from '../api/types'
import { everything, keyOf, shown, type Filter } from '../lib/runs'
import { session } from './session.svelte'

const interval = 5000 // ms between looks while the list is seen

class Runs {
  listing = $state.raw<Listing | null>(null)
  error = $state.raw<ApiError | null>(null)
  filter = $state<Filter>({ ...everything })
  chosen = $state<string[]>([])
  shown = $derived(this.listing ? shown(this.listing.runs, this.filter) : [])

  #asking = false

  async look(): Promise<void> {
    if (this.#asking || session.gone) return
    this.#asking = true
    try {
      this.listing = await api.runs()
      this.error = null
    } catch (err) {
      session.report(err)
      this.error = err instanceof ApiError ? err : new ApiError(String(err), 0, 'internal')
    } finally {
      this.#asking = false
    }
  }

  /** watch looks again and again until the function that it returns is called. */
  watch(): () => void {
    void this.look()
    const timer = setInterval(() => {
      if (!document.hidden) void this.look()
    }, interval)
    return () => clearInterval(timer)
  }

  toggle(id: string): void {
    this.chosen = this.chosen.includes(id) ? this.chosen.filter((c) => c !== id) : [...this.chosen, id]
  }

  async note(id: string, notes: Notes): Promise<void> {
    const kept = await api.saveNotes(id, notes)
    if (!this.listing) return
    this.listing = { ...this.listing, runs: this.listing.runs.map((r) => (keyOf(r) === id ? { ...r, notes: kept } : r)) }
  }

  async remove(id: string): Promise<string> {
    const { trash } = await api.remove(id)
    this.chosen = this.chosen.filter((c) => c !== id)
    await this.look()
    return trash
  }
}

export const runs = new Runs()
