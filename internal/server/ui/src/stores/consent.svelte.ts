// Whether the reader has agreed to look at answers to test tasks, by run, as long as the page is open.

class Consent {
  #runs = $state<string[]>([])

  given(run: string): boolean {
    return this.#runs.includes(run)
  }

  give(run: string): void {
    if (!this.given(run)) this.#runs.push(run)
  }
}

export const consent = new Consent()
