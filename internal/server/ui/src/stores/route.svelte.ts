// Where the reader is.

import { parse, type Route } from '../lib/router'

class Here {
  route = $state<Route>(parse(location.hash))

  constructor() {
    addEventListener('hashchange', () => {
      this.route = parse(location.hash)
    })
  }

  go(href: string): void {
    location.hash = href
  }

  /** replace changes the address without a step back to the old one: for filters and choices within a view. */
  replace(href: string): void {
    history.replaceState(null, '', href)
    this.route = parse(location.hash)
  }
}

export const here = new Here()
