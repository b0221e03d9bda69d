// How figures are written. Each function takes what the server sent and rounds it for the
// eye alone. What is not known has no text here: callers show a dash and say why.

const minus = '\u2212'

/**
 * fixed is v with so many decimals, halves to the even digit as Go does it: the page and the
 * terminal round alike.
 */
export function fixed(v: number, digits: number): string {
  const exact = Math.abs(v).toFixed(Math.min(100, digits + 40))
  const cut = exact.length - 40
  const rest = exact.slice(cut)
  if (!/^50*$/.test(rest)) return v.toFixed(digits)
  const low = exact.slice(0, cut).replace(/\.$/, '')
  const even = Number(low.at(-1)) % 2 === 0
  const size = even ? low : Math.abs(v).toFixed(digits) // which takes the larger one
  return v < 0 ? `-${size}` : size
}

function grouped(text: string): string {
  const [whole = '', rest] = text.split('.')
  const spaced = whole.replace(/\B(?=(\d{3})+(?!\d))/g, '\u2009')
  return rest === undefined ? spaced : `${spaced}.${rest}`
}

/** signed writes the sign of v before the text of its size, also that of a zero. */
function signed(v: number, size: string): string {
  return (v < 0 ? minus : '+') + size
}

/** score is a share from 0 to 1, with three decimals and more where those would say 0 or 1 of what is neither. */
export function score(v: number): string {
  for (let digits = 3; digits < 6; digits++) {
    const text = fixed(v, digits)
    if (v === 0 || v === 1 || (Number(text) !== 0 && Number(text) !== 1)) return text
  }
  return String(v)
}

/** points is a difference of scores, in points of 100. */
export function points(v: number): string {
  return signed(v, fixed(Math.abs(100 * v), 1))
}

export function interval(low: number, high: number): string {
  return `${score(low)} to ${score(high)}`
}

export function pointsInterval(low: number, high: number): string {
  return `${points(low)} to ${points(high)}`
}

export function count(v: number): string {
  return grouped(String(Math.round(v)))
}

/** tokens is a count in few characters: 416k, 1.46M. */
export function tokens(v: number): string {
  if (v < 10_000) return count(v)
  if (v < 1_000_000) return `${Math.round(v / 1000)}k`
  return `${(v / 1_000_000).toFixed(v < 10_000_000 ? 2 : 1)}M`
}

/** usd is money: cents, and as many digits as small sums need. */
export function usd(v: number): string {
  if (v === 0) return '$0'
  const digits = Math.abs(v) >= 1 ? 2 : Math.min(6, 2 - Math.floor(Math.log10(Math.abs(v))))
  return `$${grouped(fixed(v, digits))}`
}

export function percent(v: number): string {
  const p = 100 * v
  return `${Number(p.toPrecision(3))} %`
}

export function bytes(v: number): string {
  if (v < 1000) return `${v} B`
  if (v < 1_000_000) return `${(v / 1000).toFixed(1)} kB`
  return `${(v / 1_000_000).toFixed(1)} MB`
}

/** duration is a stretch of seconds: 0.4 s, 12 s, 3 min 20 s, 2 h 05 min, 3 d 4 h. */
export function duration(seconds: number): string {
  if (seconds < 10) return `${Number(seconds.toFixed(1))} s`
  const s = Math.round(seconds)
  if (s < 60) return `${s} s`
  if (s < 3600) return `${Math.floor(s / 60)} min ${String(s % 60).padStart(2, '0')} s`
  const m = Math.round(s / 60)
  if (m < 24 * 60) return `${Math.floor(m / 60)} h ${String(m % 60).padStart(2, '0')} min`
  const h = Math.round(m / 60)
  return `${Math.floor(h / 24)} d ${h % 24} h`
}

/** ago says how long before now a time was. A time to come, which a clock that is off gives, is "now". */
export function ago(time: string, now: number): string {
  const seconds = (now - Date.parse(time)) / 1000
  if (Number.isNaN(seconds)) return 'unknown time'
  if (seconds < 5) return 'now'
  if (seconds < 60) return `${Math.floor(seconds)} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} d ago`
}

// A format costs much more to make than to use.
const dates = new Intl.DateTimeFormat(undefined, {
  year: 'numeric', month: 'short', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short',
})
const hours = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false })

/** moment is a time in the reader's zone and language, with the zone. */
export function moment(time: string): string {
  const at = new Date(time)
  if (Number.isNaN(at.getTime())) return time
  return dates.format(at)
}

/** clock is the time of day in the reader's zone. */
export function clock(time: string): string {
  const at = new Date(time)
  if (Number.isNaN(at.getTime())) return time
  return hours.format(at)
}

/** plural is a count with its noun. */
export function plural(n: number, one: string, many: string): string {
  return `${count(n)} ${n === 1 ? one : many}`
}

/** list names up to most things, and says how many more there are. */
export function list(names: string[], most = 5): string {
  const shown = names.slice(0, most).join(', ')
  return names.length > most ? `${shown} and ${names.length - most} more` : shown
}

// Unanswered is how many answers were refused, by cause, or late: each is a score of 0.
export type Unanswered = { refused?: Record<string, number>; deadlines?: number }

// bothUnanswered names the two sides of a comparison that were refused or late, '' if none was.
export function bothUnanswered(of: { old: Unanswered; new: Unanswered } | null | undefined, old: string, other: string): string {
  const [a, b] = [unanswered(of?.old), unanswered(of?.new)]
  return a || b ? `not all answered: ${old} ${a || 'none refused'}; ${other} ${b || 'none refused'}` : ''
}

export function unanswered(of: Unanswered | null | undefined): string {
  const causes = Object.entries(of?.refused ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  const parts: string[] = []
  if (causes.length > 0) parts.push(`${causes.reduce((n, [, of]) => n + of, 0)} refused (${causes.map(([cause, n]) => `${cause} ${n}`).join(', ')})`)
  if (of?.deadlines) parts.push(`${of.deadlines} past the deadline`)
  return parts.join(', ')
}
