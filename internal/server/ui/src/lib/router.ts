// Routes are fragments: every view has an address, and no server needs to know it.

export interface Route {
  view: View
  run: string // id of the run, "" for views of no single run
  rest: string[] // what follows the view in the path
  query: Record<string, string>
}

export type View =
  | 'runs' | 'compare' | 'night' | 'new' | 'form' | 'review' | 'missing'
  | 'overview' | 'skill' | 'steps' | 'tasks' | 'certificate' | 'cost' | 'calls' | 'config' | 'log'

const ofRun = new Set<string>(['skill', 'steps', 'tasks', 'certificate', 'cost', 'calls', 'config', 'log'])

/** parse reads a fragment. What is no route has the view `missing`. */
export function parse(hash: string): Route {
  const text = hash.replace(/^#/, '')
  const mark = text.indexOf('?')
  const path = mark < 0 ? text : text.slice(0, mark)
  const query: Record<string, string> = {}
  if (mark >= 0) for (const [k, v] of new URLSearchParams(text.slice(mark + 1))) query[k] = v
  const parts = path.split('/').filter((p) => p !== '').map(decode)
  const [first, second, third, ...rest] = parts
  const route = (view: View, run = '', more: string[] = []): Route => ({ view, run, rest: more, query })
  if (first === undefined) return route('runs')
  if (first === 'review' && parts.length === 1) return route('review')
  if (first === 'compare' && parts.length >= 3) return route('compare', '', parts.slice(1))
  if (first === 'night' && second !== undefined && parts.length === 2) return route('night', '', [second])
  if (first === 'new' && parts.length === 1) return route('new')
  if (first === 'config' && second !== undefined && parts.length === 2) return route('form', '', [second])
  if (first === 'run' && second !== undefined) {
    if (third === undefined || third === 'overview') return route('overview', second)
    if (ofRun.has(third)) return route(third as View, second, rest)
  }
  return route('missing')
}

/** href writes the fragment of a path and a query. Empty values of the query are left out. */
export function href(path: string[], query: Record<string, string | number | undefined> = {}): string {
  const params = new URLSearchParams()
  for (const [k, v] of Object.entries(query)) if (v !== undefined && v !== '') params.set(k, String(v))
  const tail = params.toString()
  return `#/${path.map(encodeURIComponent).join('/')}${tail === '' ? '' : `?${tail}`}`
}

/** runHref is href of a view of a run. */
export function runHref(run: string, view: View | '' = '', rest: string[] = [], query: Record<string, string | number | undefined> = {}): string {
  return href(view === '' || view === 'overview' ? ['run', run] : ['run', run, view, ...rest], query)
}

/** nightHref is href of a night. */
export function nightHref(night: string): string {
  return href(['night', night])
}

/** configHref is href of the form of a config. */
export function configHref(config: string): string {
  return href(['config', config])
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
