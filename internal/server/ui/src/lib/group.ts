/** groupBy puts what has the same key together, in the order of the first of each. */
export function groupBy<T, K>(list: T[], key: (v: T) => K): Map<K, T[]> {
  const out = new Map<K, T[]>()
  for (const v of list) {
    const k = key(v)
    const there = out.get(k)
    if (there) there.push(v)
    else out.set(k, [v])
  }
  return out
}
