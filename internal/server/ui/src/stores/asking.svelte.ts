// A request that changes something: at work, answered, or refused with a reason.

import { ApiError } from '../api/client'
import { session } from './session.svelte'

export class Asking<T> {
  value = $state.raw<T | null>(null)
  error = $state('')
  help = $state('')
  busy = $state(false)

  async ask(request: () => Promise<T>): Promise<T | null> {
    this.busy = true
    this.error = this.help = ''
    try {
      this.value = await request()
      return this.value
    } catch (err) {
      session.report(err)
      this.error = err instanceof Error ? err.message : String(err)
      this.help = err instanceof ApiError ? err.help : ''
      return null
    } finally {
      this.busy = false
    }
  }
}
