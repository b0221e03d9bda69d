// Long work is split into tasks of the browser that are short each: between two of them it
// draws, scrolls and hears keys.

interface Scheduler { yield?: () => Promise<void> }

let channel: MessageChannel | null = null
const waiting: (() => void)[] = []

/** turn resolves in another task of the browser, as soon as there is one: also in a tab that is not seen, whose timers are slow. */
export function turn(): Promise<void> {
  const { scheduler } = globalThis as { scheduler?: Scheduler }
  if (scheduler?.yield) return scheduler.yield()
  if (!channel) {
    channel = new MessageChannel()
    channel.port1.onmessage = () => waiting.shift()?.()
  }
  const { port2 } = channel
  return new Promise((done) => {
    waiting.push(done)
    port2.postMessage(null)
  })
}
