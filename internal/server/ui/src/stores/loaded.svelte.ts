// A document of the server that a view shows: on its way, there, or why not. When the view
// asks for another one, what was on its way is given up.

import { ApiError } from '../api/client'
import { turn } from '../lib/turn'
import { session } from './session.svelte'

export class Loaded<T> {
  value = $state.raw<T | null>(null)
  error = $state.raw<ApiError | null>(null)
  loading = $state(true)

  #key = ''
  #abort: AbortController | null = null
  #load: (signal: AbortSignal) => Promise<T>

  /**
   * A document that load fetches and key names. It is loaded again when the key changes, and
   * when a server that was gone answers again. An empty key loads nothing. Call it while a
   * component is set up: it lives as long.
   */
  constructor(key: () => string, load: (signal: AbortSignal) => Promise<T>) {
    this.#load = load
    $effect(() => {
      const k = key()
      void session.returned
      if (k !== this.#key) {
        this.value = null
        this.error = null
      }
      this.#key = k
      if (k !== '') void this.again()
      else this.loading = false
      return () => this.#abort?.abort()
    })
  }

  /** again fetches the document anew; the old one stays until it is there. */
  async again(): Promise<void> {
    this.#abort?.abort()
    const abort = new AbortController()
    this.#abort = abort
    this.loading = true
    try {
      const value = await this.#load(abort.signal)
      await turn() // it was read in this task, and is shown in the next one
      if (abort.signal.aborted) return
      this.value = value
      this.error = null
    } catch (err) {
      if (abort.signal.aborted) return
      session.report(err)
      this.error = err instanceof ApiError ? err : new ApiError(err instanceof Error ? err.message : String(err), 0, 'internal')
    } finally {
      if (this.#abort === abort) this.loading = false
    }
  }
}
