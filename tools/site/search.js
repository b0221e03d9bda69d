const box = document.getElementById('search'), found = document.getElementById('found'), menu = document.getElementById('menu')

if (matchMedia('(max-width: 50rem)').matches) menu.open = false

// A section that has all words is found; those with a word in their title come first.
function look(words) {
  const points = (s) => words.reduce((sum, w) => sum + (s.title.toLowerCase().includes(w) ? 10 : 0) + s.text.toLowerCase().split(w).length - 1, 0)
  return sections.filter((s) => words.every((w) => (s.title + s.text).toLowerCase().includes(w)))
    .map((s) => [points(s), s]).sort((a, b) => b[0] - a[0]).slice(0, 20).map(([, s]) => s)
}

function excerpt(text, word) {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 40)
  return (at > 0 ? '…' : '') + text.slice(at, at + 110).trim() + '…'
}

box.addEventListener('input', () => {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean)
  menu.hidden = words.length > 0
  found.replaceChildren(...(words.length ? look(words) : []).map((s) => {
    const a = document.createElement('a'), small = document.createElement('small')
    a.href = s.page
    a.textContent = s.title
    small.textContent = excerpt(s.text, words[0])
    a.append(small)
    return a
  }))
  if (words.length && !found.childElementCount) found.textContent = 'nothing found'
})
