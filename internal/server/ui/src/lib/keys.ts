// Keyboard shortcuts: single keys and pairs such as `g r`. Nothing is taken while somebody
// writes, or with Ctrl, Alt or Meta held.

let before = ''
let at = 0

/** press runs what the key, or the last two of them, stand for, and tells whether something did. */
export function press(e: KeyboardEvent, keys: Record<string, () => void>, now = performance.now()): boolean {
  if (e.defaultPrevented || e.ctrlKey || e.altKey || e.metaKey || e.isComposing || writing(e.target)) return false
  const pair = now - at < 1500 ? `${before} ${e.key}` : ''
  const run = keys[pair] ?? keys[e.key]
  if (e.timeStamp !== lastStamp) {
    lastStamp = e.timeStamp
    pending = { before: e.key, at: now }
    setTimeout(settle)
  }
  if (!run) return false
  e.preventDefault()
  run()
  return true
}

// Several listeners see one key press: the memory moves on after all of them.
let lastStamp = -1
let pending: { before: string; at: number } | null = null

function settle(): void {
  if (!pending) return
  before = pending.before
  at = pending.at
  pending = null
}

function writing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName) || target.closest('dialog') !== null
}
