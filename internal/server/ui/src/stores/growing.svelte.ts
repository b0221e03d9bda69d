// A list that is made in parts, one a frame of the browser: rows that are costly to make are
// there a moment later, and nothing waits for all of them.

import { turn } from '../lib/turn'

export class Growing {
  /** how many of the list are to be shown */
  n = $state(0)

  /** A list of `of()` entries, `part` of which are made at once. Call it while a component is set up: it lives as long. */
  constructor(of: () => number, part: number) {
    this.n = part
    $effect(() => {
      if (this.n >= of()) return
      const next = requestAnimationFrame(() => void turn().then(() => { if (!ended) this.n += part }))
      let ended = false
      return () => {
        ended = true
        cancelAnimationFrame(next)
      }
    })
  }
}
