// Light or dark: what the system says, unless the reader chose.

export type Choice = 'system' | 'light' | 'dark'

const key = 'skillopt.theme'

class Theme {
  choice = $state<Choice>('system')
  dark = $state(false)
  #system = matchMedia('(prefers-color-scheme: dark)')

  constructor() {
    const kept = read()
    if (kept === 'light' || kept === 'dark') this.choice = kept
    this.#apply()
    this.#system.addEventListener('change', () => this.#apply())
  }

  toggle(): void {
    this.choice = this.dark ? 'light' : 'dark'
    if ((this.choice === 'dark') === this.#system.matches) this.choice = 'system'
    write(this.choice)
    this.#apply()
  }

  #apply(): void {
    this.dark = this.choice === 'system' ? this.#system.matches : this.choice === 'dark'
    document.documentElement.dataset.theme = this.dark ? 'dark' : 'light'
  }
}

// A browser may refuse storage: the choice then lasts as long as the page.
function read(): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

function write(choice: Choice): void {
  try {
    localStorage.setItem(key, choice)
  } catch {
    return
  }
}

export const theme = new Theme()
