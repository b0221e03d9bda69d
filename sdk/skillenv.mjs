// Worlds for skillopt in JavaScript: skill-env/1 over standard input and output.
//
// Needs nothing but Node 18 or later. Copy this file next to your program:
//
//   import { World, serve } from './skillenv.mjs'
//
//   class Echo extends World {
//     start(task) { return 'Say ' + task.prompt }
//     act(command) { return { text: 'You said ' + command, done: true, score: command === this.task.prompt ? 1 : 0 } }
//   }
//   serve(Echo, 'echo', '1')
//
// Logs belong on console.error; serve leads console.log there too.
import { createInterface } from 'node:readline'

// Failed: the target has failed at the task, a score of 0 with this reason. Any other error means that nothing was measured.
export class Failed extends Error {}

// World is one episode; a new one is made for each. Methods may be async, and of one episode run one after the other.
export class World {
  static plays = false // true: start asks the target by generate, and returns the end with its score
  static pure = false // true: equal tasks, seeds and commands always give equal answers
  static concurrent = 16 // episodes at a time
  static config = {} // extras of the configuration
  static tasks = undefined // a function that returns the program's own tasks, each as a line of a task file

  // start returns what is seen first: a text, or {text, choices, tools, done, score, failure}. this.skill has the skill
  // if the program plays.
  start(task, seed) { throw new Error('start is missing') }

  // act returns what is seen after a command.
  act(command) { throw new Error('act is missing') }

  // call returns what is seen after a call of one of the tools that start gave.
  call(name, args) { throw new Error('call is missing') }

  close() {}

  // generate asks a model of the run and returns its text: generate([{role: 'user', content: '...'}]).
  async generate(messages, { role = 'target', maxTokens } = {}) {
    const reply = await this.server.ask('generate', { episode: this.episode, role, messages, max_tokens: maxTokens })
    return reply.text
  }
}

class Server {
  episodes = new Map()
  asked = new Map()
  last = 0

  constructor(world, name, version) { Object.assign(this, { world, name, version }) }

  send(message) { process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n') }

  ask(method, params) {
    const id = 'p' + ++this.last
    this.send({ id, method, params })
    return new Promise((resolve, reject) => this.asked.set(id, { resolve, reject }))
  }

  hear({ id, result, error }) {
    const { resolve, reject } = this.asked.get(id)
    this.asked.delete(id)
    if (!error) return resolve(result)
    reject(error.data?.kind === 'agent' ? new Failed(error.message) : new Error(error.message))
  }

  initialize({ protocol, config }) {
    if (protocol !== 'skill-env/1') throw new Error(`the protocol is ${protocol}, allowed: skill-env/1`)
    const { plays, pure, tasks, concurrent } = this.world
    this.world.config = config
    return { name: this.name, version: this.version, plays, pure, tasks: tasks !== undefined, concurrent }
  }

  async start({ episode, task, seed, skill = '' }) {
    const world = Object.assign(new this.world(), { server: this, episode, task, skill })
    this.episodes.set(episode, world)
    return seen(await world.start(task, seed))
  }

  async act({ episode, command = '', call }) {
    const world = this.find(episode)
    return seen(await (call ? world.call(call.name, call.arguments) : world.act(command)))
  }

  async close({ episode }) {
    const world = this.find(episode)
    this.episodes.delete(episode)
    await world.close()
    return {}
  }

  find(episode) {
    const world = this.episodes.get(episode)
    if (!world) throw new Error(`the episode ${episode} is not under way`)
    return world
  }

  async tasks() { return { tasks: await this.world.tasks() } }

  shutdown() { return {} }

  async answer({ id, method, params = {} }) {
    if (!['initialize', 'tasks', 'start', 'act', 'close', 'shutdown'].includes(method)) {
      return this.send({ id, error: { code: -32601, message: 'unknown method ' + method } })
    }
    try {
      this.send({ id, result: await this[method](params) })
    } catch (error) { // whatever a world throws is an answer, not the end of the others
      const kind = error instanceof Failed ? 'agent' : 'infra'
      this.send({ id, error: { code: -32000, message: String(error.message), data: { kind } } })
    }
  }
}

// seen returns an answer of a world as it is written. JSON.stringify would write null for a score that is no number.
function seen(answer) {
  if (typeof answer === 'string') return { text: answer }
  const score = answer.score == null ? undefined : Number(answer.score)
  if (score !== undefined && !Number.isFinite(score)) throw new Error('the score is not a number')
  return { text: '', ...answer, score }
}

// serve serves a class of worlds until the input ends.
export async function serve(world, name, version) {
  console.log = console.error
  const server = new Server(world, name, version)
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const message = JSON.parse(line)
    if (message.method === undefined) server.hear(message)
    else if (message.method === 'shutdown') return server.answer(message).then(() => process.stdin.destroy())
    else server.answer(message)
  }
}
