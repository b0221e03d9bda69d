import { describe, expect, it } from 'vitest'
import { both, foreseen } from './foreseen'

describe('foreseen', () => {
  it('says what is expected and its bounds', () => expect(foreseen({ expected: 5, low: 2, high: 9 }, String)).toBe('5 expected (2 to 9)'))
  it('adds what lies between', () => expect(both({ expected: 1, low: 0, high: 3 }, { expected: 2, low: 1, high: 4 })).toEqual({ expected: 3, low: 1, high: 7 }))
})
