// The token leaves the address, and the history, before anything else looks at them: this
// module is the first that the page runs.

import { takeToken } from './lib/token'

const taken = takeToken(location.hash)
if (taken) history.replaceState(null, '', taken.rest)

let later: (token: string) => void = () => {}

// It is the first listener: others see the address without the token.
addEventListener('hashchange', (e) => {
  const found = takeToken(location.hash)
  if (!found) return
  e.stopImmediatePropagation()
  history.replaceState(null, '', found.rest)
  later(found.token)
  dispatchEvent(new HashChangeEvent('hashchange'))
})

/**
 * onToken calls back with the token of a link that is opened in a page that is there already:
 * nothing but the fragment changes then.
 */
export function onToken(f: (token: string) => void): void {
  later = f
}

/** token is the one that the page was opened with, null without one */
export const token: string | null = taken?.token ?? null
