// The views, each a part of the page that is loaded when it is first shown, and when the browser
// has nothing else to do: they are there then when the server is gone.

import type { Component } from 'svelte'
import { later } from './later'
import Runs from '../views/Runs.svelte'
import type { View } from './router'
import { turn } from './turn'

export type Page = { default: Component }

/**
 * page loads a view once. The same promise is given every time until loading fails: a view that
 * is shown stays as it is, with what was written into it, when a server that was gone is back.
 * Its code is run in one task of the browser, and shown in the next one.
 */
export function page(load: () => Promise<unknown>): () => Promise<Page> {
  let loading: Promise<Page> | null = null
  return () => {
    loading ??= first(load).catch((err: unknown) => {
      loading = null
      throw err
    })
    return loading
  }
}

async function first(load: () => Promise<unknown>): Promise<Page> {
  const made = (await load()) as Page
  await turn()
  return made
}

export const pages = {
  runs: page(() => Promise.resolve({ default: Runs })),
  compare: page(() => import('../views/Compare.svelte')),
  night: page(() => import('../views/Night.svelte')),
  new: page(() => import('../views/NewRun.svelte')),
  form: page(() => import('../views/Form.svelte')),
  review: page(() => import('../views/Review.svelte')),
  missing: page(() => import('../views/Missing.svelte')),
  run: page(() => import('../views/Run.svelte')),
}

export const runPages: Partial<Record<View, () => Promise<Page>>> = {
  overview: page(() => import('../views/Overview.svelte')),
  skill: page(() => import('../views/Skill.svelte')),
  steps: page(() => import('../views/Steps.svelte')),
  tasks: page(() => import('../views/Tasks.svelte')),
  certificate: page(() => import('../views/Certificate.svelte')),
  cost: page(() => import('../views/Cost.svelte')),
  calls: page(() => import('../views/Calls.svelte')),
  config: page(() => import('../views/Config.svelte')),
  log: page(() => import('../views/Log.svelte')),
}

export const taskPage = page(() => import('../views/Task.svelte'))

/** loadAll fetches all views, one after the other, a while after the first one is shown. */
export function loadAll(): void {
  const all: (() => Promise<unknown>)[] = [...Object.values(pages), ...Object.values(later), ...Object.values(runPages), taskPage]
  const idle = (f: () => void) => ('requestIdleCallback' in globalThis ? requestIdleCallback(f, { timeout: 5000 }) : setTimeout(f, 500))
  const next = () => {
    const load = all.shift()
    if (load) load().then(() => idle(next), () => setTimeout(() => idle(next), 5000))
  }
  setTimeout(() => idle(next), 2000)
}
