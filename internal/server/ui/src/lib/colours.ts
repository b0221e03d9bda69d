// The colours of the theme, for what is drawn and not styled.

const names = ['text', 'muted', 'line', 'strong-line', 'panel', 'sunk', 'accent', 'good', 'bad', 'warn', 'ground'] as const

export type Colours = Record<(typeof names)[number], string>

export function colours(of: Element): Colours {
  const style = getComputedStyle(of)
  return Object.fromEntries(names.map((n) => [n, style.getPropertyValue(`--${n}`).trim() || '#888'])) as Colours
}
