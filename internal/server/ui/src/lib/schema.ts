// The form of a config, made from the JSON Schema of the configuration: fields, what is in them, and
// what somebody has written as a value. Whether a value is allowed is said by the server alone.

import type { Problem, Schema, Value } from '../api/configs'

/** How a key is edited: other is set in the text. */
export type Kind = 'text' | 'number' | 'flag' | 'choice' | 'list' | 'map' | 'other'

export interface Field { key: string; group: string; text: string; kind: Kind; choices: string[]; may: boolean }

/** fields returns the keys of a schema in its order. may: a page may set it. */
export function fields(schema: Schema, key = '', text = ''): Field[] {
  const object = schema.properties ? schema : schema.anyOf?.find((s) => s.properties)
  if (object) return Object.entries(object.properties!).flatMap(([name, s]) => fields(s, key === '' ? name : `${key}.${name}`, s.description ?? text))
  const dot = key.indexOf('.')
  return [{ key, group: dot < 0 ? '' : key.slice(0, dot), text, kind: kindOf(schema), choices: (schema.enum ?? []).filter((c) => c !== ''), may: schema.untrusted === 'yes' }]
}

function kindOf(s: Schema): Kind {
  const types = s.anyOf ? s.anyOf.map((a) => a.type) : [s.type].flat()
  if (s.enum) return 'choice'
  if (types.includes('boolean')) return 'flag'
  if (types.includes('array')) return (s.items?.type === 'string' ? 'list' : 'other')
  if (types.includes('object')) return typeof s.additionalProperties === 'object' && s.additionalProperties.type === 'string' ? 'map' : 'other'
  if (types.includes('integer') || types.includes('number')) return 'number'
  return types.includes('string') ? 'text' : 'other'
}

/** written returns a value as it is shown in a field, '' for none. */
export function written(kind: Kind, v: Value): string {
  if (v === undefined || v === null) return ''
  if (kind === 'list' && Array.isArray(v)) return v.join('\n')
  if (kind === 'map' && typeof v === 'object') return Object.entries(v as Record<string, Value>).map(([k, x]) => `${k}: ${String(x)}`).join('\n')
  return typeof v === 'object' ? JSON.stringify(v) : String(v)
}

/** valueOf returns what a field says as a value: null takes the key out. What is no number stays as it is, for the server to refuse. */
export function valueOf(kind: Kind, text: string): Value {
  const t = text.trim()
  if (t === '') return null
  const lines = t.split('\n').map((l) => l.trim()).filter((l) => l !== '')
  switch (kind) {
    case 'flag': return t === 'true'
    case 'number': return Number.isFinite(Number(t)) ? Number(t) : t
    case 'list': return lines
    case 'map': return Object.fromEntries(lines.map((l) => { const at = l.indexOf(':'); return at < 0 ? [l, ''] : [l.slice(0, at).trim(), l.slice(at + 1).trim()] }))
    default: return t.includes('\n') ? text : t
  }
}

/** found returns the fields that a search names, by key or what they do. */
export function found(list: Field[], search: string): Field[] {
  const words = search.toLowerCase().split(/\s+/).filter((w) => w !== '')
  return list.filter((f) => words.every((w) => `${f.key} ${f.text}`.toLowerCase().includes(w)))
}

/** problemsOf returns the problems of a key, and of what is in it. */
export function problemsOf(list: Problem[], key: string): Problem[] {
  return list.filter((p) => p.key === key || p.key?.startsWith(`${key}.`) || p.key?.startsWith(`${key}[`))
}

/** roles have a model each. */
export const roles = ['target', 'optimizer', 'judge'] as const

/** modelName returns the model of a role as PROVIDER/MODEL, '' for none. A simulated one is sim/ and its world, from the folder of all configs; dir is the config's own in it. */
export function modelName(values: Record<string, Value>, role: string, dir: string): string {
  const provider = written('text', values[`models.${role}.provider`])
  const model = written('text', values[`models.${role}.${provider === 'sim' ? 'world' : 'model'}`])
  if (provider === '' || model === '') return provider
  if (provider !== 'sim') return `${provider}/${model}`
  return `sim/${model.startsWith('../') ? model.slice(3) : dir === '' ? model : `${dir}/${model}`}`
}

/** withModel returns the keys to set for another model of a role. */
export function withModel(role: string, name: string, dir: string): Record<string, Value> {
  const at = name.indexOf('/')
  const provider = at < 0 ? name : name.slice(0, at)
  const model = at < 0 ? '' : name.slice(at + 1)
  const world = dir === '' ? model : model.startsWith(`${dir}/`) ? model.slice(dir.length + 1) : `../${model}`
  const sim = provider === 'sim'
  return { [`models.${role}.provider`]: provider || null, [`models.${role}.model`]: sim ? null : model || null, [`models.${role}.world`]: sim ? world : null }
}
