// The link that the server prints has the token in its fragment, which no server sees.

/**
 * takeToken reads the token of a fragment: `#token=T`, with the view to show after it in
 * `&to=/run/...`. It returns null for every other fragment.
 */
export function takeToken(hash: string): { token: string; rest: string } | null {
  const found = /^#token=([^&]*)(?:&to=(.*))?$/.exec(hash)
  if (!found) return null
  const [, token = '', to] = found
  let rest = '#/'
  if (to !== undefined) {
    const path = decode(to)
    rest = path.startsWith('/') ? `#${path}` : '#/'
  }
  return { token: decode(token), rest }
}

/** tokenOf takes what somebody has pasted: the token itself, or the whole link. */
export function tokenOf(pasted: string): string {
  const text = pasted.trim()
  const at = text.indexOf('#token=')
  if (at < 0) return text
  return takeToken(text.slice(at))?.token ?? ''
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
