// Lines of a skill, put together by what wrote them.

import type { BlameLine, BlameSource, Origin } from '../api/types'

export interface Block { origin: Origin; key: string; lines: BlameLine[] }

export function originKey(o: Origin): string {
  return `${o.kind}/${o.step}/${o.epoch ?? 0}/${o.edit ?? 0}`
}

/** blocks are the runs of lines with one origin. Blank lines stay with what stands before them. */
export function blocks(lines: BlameLine[]): Block[] {
  const out: Block[] = []
  for (const line of lines) {
    const key = originKey(line.origin)
    const last = out.at(-1)
    if (last && (last.key === key || line.text.trim() === '')) last.lines.push(line)
    else out.push({ origin: line.origin, key, lines: [line] })
  }
  return out
}

/** firsts are the first blocks of their steps: what a step brought is said next to these alone. */
export function firsts(all: Block[]): Set<Block> {
  const seen = new Set<string>()
  return new Set(all.filter(({ origin: o }) => {
    const key = o.step > 0 ? `${o.step}` : originKey(o)
    return !seen.has(key) && seen.add(key)
  }))
}

/** originWords names an origin as the terminal does. */
export function originWords(o: Origin): string {
  switch (o.kind) {
    case 'seed': return 'seed'
    case 'outside': return 'by hand'
    case 'slow_update': return `slow update, epoch ${o.epoch ?? 0}`
    case 'edit': return `step ${o.step}, edit ${o.edit ?? 0}`
  }
  return `step ${o.step}, ${o.kind.replaceAll('_', ' ')}`
}

/** parts cut a list into pieces of so many. */
export function parts<T>(list: T[], most: number): T[][] {
  const out: T[][] = []
  for (let i = 0; i < list.length; i += most) out.push(list.slice(i, i + most))
  return out
}

/** upTo are the first blocks with so many lines in all; the last one is cut. */
export function upTo(all: Block[], lines: number): Block[] {
  const out: Block[] = []
  for (const b of all) {
    if (lines <= 0) break
    out.push(b.lines.length <= lines ? b : { ...b, lines: b.lines.slice(0, lines) })
    lines -= b.lines.length
  }
  return out
}

export function sourceOf(sources: BlameSource[], o: Origin): BlameSource | null {
  const key = originKey(o)
  return sources.find((s) => originKey(s.origin) === key) ?? null
}
