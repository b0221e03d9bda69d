// An echo world: the target shall say what the task asks for.
import { Failed, World, serve } from '../skillenv.mjs'

class Echo extends World {
  static pure = true

  static tasks() { return [{ id: 'one', prompt: 'hello' }, { id: 'two', prompt: 'Grüße' }] }

  start(task) { return { text: 'Say: ' + task.prompt, choices: [task.prompt, 'leave'], score: 0 } }

  act(command) {
    if (command === 'leave') throw new Failed('left: nothing was said')
    const right = command === this.task.prompt
    return { text: 'You said: ' + command, done: right, score: right ? 1 : 0 }
  }
}

serve(Echo, 'echo', '1')
