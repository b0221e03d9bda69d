// Which rows of a long list are made: those that are seen, and some before and after them.

export interface Span { from: number; to: number } // to is not with them

const spare = 12 // rows before and after what is seen
const grain = 8 // the span changes in steps of so many rows

/** spanOf says which of n rows of one height are made in a box that is scrolled to top and shows `view` pixels. */
export function spanOf(n: number, height: number, top: number, view: number): Span {
  const first = Math.floor(top / height) - spare
  const last = Math.ceil((top + view) / height) + spare
  const to = Math.min(n, Math.ceil(last / grain) * grain)
  return { from: Math.max(0, Math.min(to, Math.floor(first / grain) * grain)), to: Math.max(0, to) }
}

/** reveal is where to scroll so that row i is in view below a head, unchanged if it is. */
export function reveal(i: number, height: number, head: number, top: number, view: number): number {
  const from = i * height
  const room = Math.max(height, view - head)
  return from < top ? from : from + height > top + room ? from + height - room : top
}
