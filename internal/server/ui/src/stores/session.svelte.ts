// Whether this browser is let in, what the server is, and whether it still answers.

import { ApiError } from '../api/client'
import { backoff } from '../lib/follow'
import * as api from '../api/routes'
import type { Server } from '../api/types'

type State = 'asking' | 'in' | 'out' // out: no valid session

class Session {
  state = $state<State>('asking')
  why = $state('') // of out: what the server said
  server = $state<Server | null>(null)
  gone = $state(false) // the server does not answer; it is asked again and again
  nextTry = $state(0) // ms since 1970
  /** counts how often the server came back: views load again when it changes */
  returned = $state(0)

  #attempt = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  /** begin trades a token if there is one, and asks who the server is. */
  async begin(token: string | null): Promise<void> {
    try {
      if (token !== null) await api.logIn(token)
      await this.#ask()
    } catch (err) {
      this.report(err)
      if (this.state === 'asking' && !this.gone) {
        this.state = 'out'
        this.why = err instanceof Error ? err.message : String(err)
      }
    }
  }

  async #ask(): Promise<void> {
    this.server = await api.server(AbortSignal.timeout(10_000))
    this.state = 'in'
    this.why = ''
  }

  get readOnly(): boolean {
    return this.server?.read_only ?? true
  }

  /** report takes note of an error of a request: no session, or no server. Others are the caller's. */
  report(err: unknown): void {
    if (!(err instanceof ApiError)) return
    if (err.kind === 'auth' || err.status === 401) {
      this.state = 'out'
      this.why = err.message
    }
    if (err.kind === 'gone') this.lost()
  }

  /** lost says that no server answered: it is asked again until it does. */
  lost(): void {
    if (this.gone) return
    this.gone = true
    this.#attempt = 0
    this.#wait()
  }

  #wait(): void {
    const ms = backoff(this.#attempt++)
    this.nextTry = Date.now() + ms
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#again(), ms)
  }

  async #again(): Promise<void> {
    try {
      await this.#ask()
    } catch (err) {
      if (err instanceof ApiError && err.kind !== 'gone') {
        this.gone = false
        this.report(err)
        return
      }
      this.#wait()
      return
    }
    this.gone = false
    this.returned++
  }

  /** retry asks at once. */
  retry(): void {
    clearTimeout(this.#timer)
    void this.#again()
  }
}

export const session = new Session()
