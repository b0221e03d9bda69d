// The time of day, for what says how long ago something was. It moves while the page is seen.

class Clock {
  now = $state(Date.now())

  constructor() {
    setInterval(() => {
      if (!document.hidden) this.now = Date.now()
    }, 5000)
  }
}

export const clock = new Clock()
