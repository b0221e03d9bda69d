import { describe, expect, it } from 'vitest'
import { reveal, spanOf } from './window'

describe('spanOf', () => {
  it('holds what is seen, wherever that is', () => {
    for (let top = 0; top < 3000 * 20; top += 137) {
      const s = spanOf(3000, 20, top, 600)
      expect(s.from).toBeLessThanOrEqual(Math.floor(top / 20))
      expect(s.to).toBeGreaterThanOrEqual(Math.min(3000, Math.ceil((top + 600) / 20)))
      expect(s.to - s.from).toBeLessThan(80)
    }
  })
  it('has all of a short list', () => expect(spanOf(5, 20, 0, 600)).toEqual({ from: 0, to: 5 }))
  it('has none of an empty one', () => expect(spanOf(0, 20, 0, 600)).toEqual({ from: 0, to: 0 }))
  it('is sound where the list has become shorter than what is scrolled', () => expect(spanOf(10, 20, 9000, 600)).toEqual({ from: 10, to: 10 }))
  it('stays while little is scrolled', () => expect(spanOf(900, 20, 4000, 600)).toEqual(spanOf(900, 20, 4019, 600)))
})

describe('reveal', () => {
  it.each([
    [10, 0, 140], // below what is seen: at its end
    [2, 300, 40], // above: at its beginning
    [6, 100, 100], // seen
  ])('row %i from %i', (i, top, want) => expect(reveal(i, 20, 30, top, 110)).toBe(want))
})
