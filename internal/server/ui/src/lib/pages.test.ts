import { describe, expect, it } from 'vitest'
import { page } from './pages'

describe('page', () => {
  it('gives the same promise of a view that is loaded', async () => {
    let loads = 0
    const p = page(() => Promise.resolve({ default: ++loads }))
    expect(p()).toBe(p())
    await p()
    expect(p()).toBe(p())
    expect(loads).toBe(1)
  })
  it('tries again what could not be loaded', async () => {
    let loads = 0
    const p = page(() => (++loads === 1 ? Promise.reject(new Error('gone')) : Promise.resolve({ default: loads })))
    await expect(p()).rejects.toThrow('gone')
    expect(await p()).toEqual({ default: 2 })
  })
})
