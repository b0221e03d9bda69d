// The token leaves the address, and the history, before anything else looks at them: this
// module is the first that the page runs.

import { takeToken } from './lib/token'

const taken = takeToken(location.hash)
if (taken) history.replaceState(null, '', taken.rest)

/** token is the one that the page was opened with, null without one */
export const token: string | null = taken?.token ?? null
