import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { ConfigShown } from '../api/configs'
import { ConfigForm } from './form.svelte'

// server answers as the real one does for a text of lines "key: value": it sets keys in it.
const asked: { address: string; body: { text: string; set?: Record<string, unknown>; sha256?: string } }[] = []
let answers: (() => void)[] = []
let status = 200

function shown(text: string): ConfigShown {
  const values = Object.fromEntries(text.split('\n').filter((l) => l !== '').map((l) => l.split(': ')))
  return { id: 'a', path: 'a/config.yaml', text, sha256: `sha of ${text}`, trusted: false, values, problems: values.epochs === 'many' ? [{ key: 'epochs', line: 1, message: 'no number', help: '', refused: false }] : [], defaults: {}, lines: {}, foreign: [], command: 'skillopt train a' }
}

beforeEach(() => {
  vi.useFakeTimers()
  asked.length = 0
  answers = []
  status = 200
  vi.stubGlobal('fetch', async (address: string, init: { body: string }) => {
    const body = JSON.parse(init.body) as (typeof asked)[number]['body']
    asked.push({ address, body })
    await new Promise<void>((done) => answers.push(done))
    if (status !== 200) return new Response(JSON.stringify({ error: { kind: 'conflict', message: 'the file has changed' } }), { status })
    let text = body.text
    for (const [k, v] of Object.entries(body.set ?? {})) {
      const rest = text.split('\n').filter((l) => l !== '' && !l.startsWith(`${k}: `))
      text = [...rest, ...(v === null ? [] : [`${k}: ${String(v)}`])].join('\n')
    }
    return new Response(JSON.stringify(shown(text)))
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const form = () => new ConfigForm('a', shown('epochs: 2'))
const reply = async () => {
  answers.shift()?.()
  await vi.advanceTimersByTimeAsync(0)
}

it('asks once for what is typed in a moment, and shows what the server made of it', async () => {
  const f = form()
  f.set({ epochs: 3 })
  f.set({ seed: 7 })
  await vi.advanceTimersByTimeAsync(250)
  expect(asked).toHaveLength(1)
  expect(asked[0]!.body).toEqual({ text: 'epochs: 2', set: { epochs: 3, seed: 7 } })
  await reply()
  expect(f.text).toBe('epochs: 3\nseed: 7')
  expect(f.pending).toBe(false)
  expect(f.changed).toBe(true)
})

it('loses nothing that is typed while the server is asked', async () => {
  const f = form()
  f.set({ epochs: 3 })
  await vi.advanceTimersByTimeAsync(250)
  f.write('epochs: 2\nname: new')
  await reply() // of the old text: it is asked again
  await vi.advanceTimersByTimeAsync(250)
  await reply()
  expect(f.text).toBe('name: new\nepochs: 3')
  f.set({ seed: 1 })
  await vi.advanceTimersByTimeAsync(250)
  f.set({ seed: 2 })
  await reply()
  await vi.advanceTimersByTimeAsync(250)
  await reply()
  expect(f.text).toBe('name: new\nepochs: 3\nseed: 2')
  expect(f.pending).toBe(false)
})

it('shows the problem of a key, and takes a key out', async () => {
  const f = form()
  f.set({ epochs: 'many' })
  await vi.advanceTimersByTimeAsync(250)
  await reply()
  expect(f.shown?.problems).toHaveLength(1)
  f.set({ epochs: null })
  await vi.advanceTimersByTimeAsync(250)
  await reply()
  expect(f.text).toBe('')
})

it('saves what was checked, by the text that was read', async () => {
  const f = form()
  f.set({ epochs: 4 })
  const saved = f.save()
  await vi.advanceTimersByTimeAsync(0)
  await reply()
  await reply()
  expect(await saved).toBe(true)
  expect(asked.at(-1)!.body).toEqual({ text: 'epochs: 4', sha256: 'sha of epochs: 2' })
  expect(f.changed).toBe(false)
  expect(await f.save()).toBe(true) // there is nothing to save
  expect(asked).toHaveLength(2)
})

it('saves once what is saved twice at the same time', async () => {
  const f = form()
  f.write('epochs: 5')
  const both = Promise.all([f.save(), f.save()])
  await vi.advanceTimersByTimeAsync(0)
  await reply()
  await reply()
  expect(await both).toEqual([true, true])
  expect(asked.filter((a) => !a.address.endsWith('/check'))).toHaveLength(1)
})

it('does not overwrite a file that has changed', async () => {
  const f = form()
  f.write('epochs: 9')
  const saved = f.save()
  await vi.advanceTimersByTimeAsync(0)
  await reply()
  status = 409
  await reply()
  expect(await saved).toBe(false)
  expect(f.error?.kind).toBe('conflict')
  expect(f.text).toBe('epochs: 9')
})
