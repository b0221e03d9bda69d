/** tagsOf reads tags that are written with commas between them; none twice, none empty. */
export function tagsOf(text: string): string[] {
  const out: string[] = []
  for (const part of text.split(',')) {
    const tag = part.trim().replace(/\s+/g, ' ')
    if (tag !== '' && !out.includes(tag)) out.push(tag)
  }
  return out
}
