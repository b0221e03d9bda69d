// The one figure that the page computes itself, by the rule of package result.

/** wilson is the 95 % interval of a mean of n scores from 0 to 1; null without any. */
export function wilson(mean: number, n: number): [number, number] | null {
  if (n <= 0) return null
  const z = 1.959963984540054
  const zz = z * z
  const middle = (mean + zz / (2 * n)) / (1 + zz / n)
  const half = (z / (1 + zz / n)) * Math.sqrt((mean * (1 - mean)) / n + zz / (4 * n * n))
  return [Math.max(0, middle - half), Math.min(1, middle + half)]
}
