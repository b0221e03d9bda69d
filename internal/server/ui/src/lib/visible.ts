// Text of runs is written by models, agents and people: it may hold characters that hide,
// reorder or overwrite what stands around them. They are shown as signs instead.

// The names of the ASCII controls: their pictures (U+2400 and on) are missing in many fonts.
const names = 'NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US'.split(' ')

// Zero-width and direction characters, other invisible ones, lone surrogates and tags.
const hidden =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu

function sign(c: string): string {
  const code = c.codePointAt(0) ?? 0
  return `\u27e8${names[code] ?? (code === 0x7f ? 'DEL' : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`)}\u27e9`
}

/**
 * visible returns text with control, direction and zero-width characters as signs. Line
 * breaks and tabs stay; a carriage return before a line break is taken off.
 */
export function visible(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(hidden, sign)
}

/** oneLine is visible, with line breaks and tabs as spaces: for names and table cells. */
export function oneLine(text: string): string {
  return visible(text).replace(/[\n\t]+/g, ' ')
}

/** cut returns the beginning of a text, and how many characters are left out. */
export function cut(text: string, most: number): { head: string; left: number } {
  if (text.length <= most) return { head: text, left: 0 }
  let end = most
  const last = text.charCodeAt(end - 1)
  if (last >= 0xd800 && last < 0xdc00) end-- // not through a pair
  return { head: text.slice(0, end), left: text.length - end }
}

/** cutLines bounds a text by its lines and by the length of each. */
export function cutLines(text: string, lines: number, width: number): { head: string; left: number } {
  let at = 0
  let out = ''
  for (let n = 0; n < lines && at < text.length; n++) {
    let end = text.indexOf('\n', at)
    if (end < 0) end = text.length
    if (end - at > width) {
      out += text.slice(at, at + width)
      return { head: out, left: text.length - at - width }
    }
    out += text.slice(at, Math.min(end + 1, text.length))
    at = end + 1
  }
  return { head: out, left: Math.max(0, text.length - at) }
}
