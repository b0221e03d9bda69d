// Tasks of sessions that wait for a review, and what a user changes of one.

import type { MinedEdit, MinedTask } from '../api/types'

/** Fields are a task as a form has it. */
export interface Fields { prompt: string; said: string; gold: string; checks: string }

/** fieldsOf writes a task into a form: of several answers that are expected one a line, checks as JSON. */
export function fieldsOf(t: MinedTask): Fields {
  return { prompt: t.prompt, said: t.correction, gold: (t.gold ?? []).join('\n'), checks: t.checks ? JSON.stringify(t.checks, null, 2) : '' }
}

/** editOf is what a form changes of a task, or why it cannot be read. */
export function editOf(t: MinedTask, f: Fields): MinedEdit | string {
  const was = fieldsOf(t)
  const out: MinedEdit = { id: t.id }
  if (f.prompt !== was.prompt) out.prompt = f.prompt
  if (f.said !== was.said) out.correction = f.said
  if (f.gold !== was.gold) out.gold = f.gold.split('\n').map((l) => l.trim()).filter((l) => l !== '')
  if (f.checks !== was.checks) {
    try {
      out.checks = f.checks.trim() === '' ? [] : JSON.parse(f.checks)
    } catch (err) {
      return `checks: no JSON: ${err instanceof Error ? err.message : String(err)}`
    }
  }
  return out
}

const trusts: Record<string, string> = {
  command: 'a command that failed in the session, and passed later',
  files: 'files that you accepted',
  correction: 'what you corrected, and what you took after that',
  rubric: 'words alone, for a judge',
  person: 'a file that a person wrote',
}

/** trustText says according to what it is known what is expected. */
export function trustText(code: string): string {
  return Object.hasOwn(trusts, code) ? trusts[code]! : code
}
