// Following a run: events and progress as they come, over reconnections without a lost or a
// double one.

import { ApiError } from '../api/client'
import * as api from '../api/routes'
import type { Progress } from '../api/types'
import { backoff, linesOf, Sequence } from '../lib/follow'
import { Fold } from '../lib/live'
import { session } from './session.svelte'

// A long run has many events: the page begins with so many of the last ones.
const lately = 4000

// How often a run that has ended is looked at, in ms.
const restful = 5000

export type LiveState = 'connecting' | 'following' | 'again' | 'ended' | 'gone'

export class Live {
  state = $state<LiveState>('connecting')
  progress = $state.raw<Progress | null>(null)
  fold = new Fold()
  sequence = new Sequence()
  /** why the run or its log cannot be read; empty: it can */
  problem = $state('')
  /** counts the frames: what is read of fold is read anew when it changes */
  frame = $state(0)
  /** counts decisions of the run: documents that they change are loaded again */
  decided = $state(0)

  #id: string
  #from = -lately
  #source: EventSource | null = null
  #attempt = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #closed = false
  #atWork = false // a process was at work since the connection was opened
  #settling: ReturnType<typeof setTimeout> | undefined

  constructor(id: string) {
    this.#id = id
    this.#open()
  }

  /** whole says that the log is there from its beginning, or is being read from there. */
  get whole(): boolean {
    void this.frame
    return this.#from === 0 || this.sequence.first <= 1
  }

  /** fromBeginning reads the whole log anew. */
  fromBeginning(): void {
    this.#source?.close()
    clearTimeout(this.#timer)
    this.#from = 0
    this.fold = new Fold()
    this.sequence = new Sequence()
    this.frame++
    this.state = 'connecting'
    this.#open()
  }

  #open(): void {
    const source = new EventSource(api.events(this.#id, this.sequence.last > 0 ? this.sequence.last : this.#from))
    this.#source = source
    source.addEventListener('open', () => {
      this.state = 'following'
      this.#attempt = 0
    })
    source.addEventListener('events', (m) => this.#events(m as MessageEvent<string>))
    source.addEventListener('progress', (m) => this.#progress(m as MessageEvent<string>))
    source.addEventListener('problem', (m) => (this.problem = String((JSON.parse((m as MessageEvent<string>).data) as { message?: unknown }).message ?? '')))
    source.addEventListener('ended', () => this.#end('ended'))
    source.addEventListener('gone', () => this.#end('gone'))
    source.addEventListener('error', () => void this.#broken(source))
  }

  #events(m: MessageEvent<string>): void {
    const lines = this.sequence.fresh(linesOf(m.data))
    if (lines.length === 0) return
    this.problem = ''
    let decided = false
    for (const line of lines) {
      this.fold.add(line)
      decided ||= line.event === 'step_done' || line.event === 'epoch_done' || line.event === 'test_done' || line.event === 'run_done' || line.event === 'certificate'
    }
    this.frame++
    if (decided) this.#changed()
  }

  #progress(m: MessageEvent<string>): void {
    const next = JSON.parse(m.data) as Progress
    const before = this.progress
    if (before && (before.status !== next.status || before.killed !== next.killed || before.step !== next.step)) this.#changed()
    this.progress = next
    this.#atWork ||= next.status === 'running' && !next.killed
  }

  // Documents are loaded again at most twice a second, and not for what an old run's log says.
  #changed(): void {
    if (!this.#atWork || this.#settling !== undefined) return
    this.#settling = setTimeout(() => {
      this.#settling = undefined
      if (!this.#closed) this.decided++
    }, 500)
  }

  #end(state: 'ended' | 'gone'): void {
    this.#source?.close()
    this.state = state
    this.#changed()
    this.#atWork = false
    if (state === 'ended') this.#timer = setTimeout(() => void this.#goesOn(), restful)
  }

  // A run that has ended, or was killed, may go on by its command: it is followed again then.
  async #goesOn(): Promise<void> {
    if (this.#closed || this.state !== 'ended') return
    if (!document.hidden && !session.gone) {
      try {
        const p = await api.progress(this.#id, AbortSignal.timeout(10_000))
        if (this.#closed) return
        this.progress = p
        if (p.status === 'running' && !p.killed) {
          this.state = 'connecting'
          this.#atWork = true
          this.#changed()
          this.#open()
          return
        }
      } catch (err) {
        session.report(err)
        if (err instanceof ApiError && err.kind === 'missing') return this.#end('gone')
      }
    }
    this.#timer = setTimeout(() => void this.#goesOn(), restful)
  }

  // The browser would try again by itself, but not after an answer such as 401 or 429.
  async #broken(source: EventSource): Promise<void> {
    source.close()
    if (this.#closed || source !== this.#source || this.state === 'ended' || this.state === 'gone') return
    this.state = 'again'
    try {
      this.progress = await api.progress(this.#id, AbortSignal.timeout(10_000))
    } catch (err) {
      session.report(err)
      if (err instanceof ApiError && err.kind === 'missing') return this.#end('gone')
    }
    if (this.#closed) return
    this.#wait(backoff(this.#attempt++))
  }

  // While no server answers, the session asks for it: this waits until one does.
  #wait(ms: number): void {
    this.#timer = setTimeout(() => (session.gone ? this.#wait(500) : this.#open()), ms)
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    clearTimeout(this.#settling)
    this.#source?.close()
  }
}
