// The config that is open in the form: its text, and what the server says of it. The form sets keys
// in the text through the server, which knows YAML; so both always show the same.

import { ApiError } from '../api/client'
import * as api from '../api/configs'
import type { ConfigShown, Value } from '../api/configs'
import { session } from './session.svelte'

const pause = 250 // ms after the last key before the server is asked

export class ConfigForm {
  id: string
  text = $state('')
  shown = $state.raw<ConfigShown | null>(null) // of the text, as it was when it was checked last
  saved = $state.raw<ConfigShown | null>(null) // the file as it was read or written last
  error = $state.raw<ApiError | null>(null)
  /** pending: what was typed is not checked yet */
  pending = $state(false)

  #sets: Record<string, Value> = {}
  #edits = 0 // of the text by hand
  #timer: ReturnType<typeof setTimeout> | undefined
  #asking: Promise<void> | null = null
  #saving: Promise<boolean> = Promise.resolve(true)

  constructor(id: string, read: ConfigShown) {
    this.id = id
    this.take(read)
  }

  /** take shows a document that was read or written. */
  take(read: ConfigShown): void {
    this.saved = this.shown = read
    this.text = read.text
    this.error = null
  }

  get changed(): boolean {
    return this.pending || this.text !== this.saved?.text
  }

  /** write takes the text as somebody wrote it. */
  write(text: string): void {
    this.text = text
    this.#edits++
    this.#later()
  }

  /** set gives keys other values; null takes one out. */
  set(keys: Record<string, Value>): void {
    this.#sets = { ...this.#sets, ...keys }
    this.#later()
  }

  #later(): void {
    this.pending = true
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.settle(), pause)
  }

  /** settle waits until what was typed is checked. */
  async settle(): Promise<void> {
    clearTimeout(this.#timer)
    while (this.pending) {
      this.#asking ??= this.#check().finally(() => (this.#asking = null))
      await this.#asking
      if (this.error) return
    }
  }

  async #check(): Promise<void> {
    const [edits, sets] = [this.#edits, this.#sets]
    try {
      const shown = await api.check(this.id, this.text, sets)
      this.error = null
      if (edits !== this.#edits) return // the keys are set in the newer text
      this.shown = shown
      this.text = shown.text
      if (this.#sets === sets) {
        this.#sets = {}
        this.pending = false
      }
    } catch (err) {
      this.#failed(err)
      this.#sets = {} // what cannot be set is not tried again
      this.pending = false
    }
  }

  /** save writes the file, and reports whether it is as the text. One is written after the other. */
  save(): Promise<boolean> {
    this.#saving = this.#saving.then(() => this.#save())
    return this.#saving
  }

  async #save(): Promise<boolean> {
    await this.settle()
    if (this.error) return false
    if (!this.changed) return true
    try {
      this.take(await api.save(this.id, this.text, this.saved!.sha256))
      return true
    } catch (err) {
      this.#failed(err)
      return false
    }
  }

  #failed(err: unknown): void {
    session.report(err)
    this.error = err instanceof ApiError ? err : new ApiError(err instanceof Error ? err.message : String(err), 0, 'internal')
  }
}
