// Drawing of the heat map: only what is in view, each cell copied from a picture of its kind.

import type { GridColumn, GridTask } from '../api/types'
import type { Colours } from './colours'
import { cellState, share, type Geometry, windowOf } from './grid'
import { oneLine } from './visible'

export interface Picture {
  colours: Colours
  ratio: number // device pixels in a CSS pixel
  cell: number
  of: Map<string, ImageBitmap | HTMLCanvasElement> // by character, those that are no plain squares
}

/** picture makes the pictures of cells anew for a theme, a size and a screen. */
export function picture(colours: Colours, cell: number, ratio: number): Picture {
  const of = new Map<string, ImageBitmap | HTMLCanvasElement>()
  for (const c of '0abcdefghixu') {
    const side = Math.round(cell * ratio)
    const made = 'OffscreenCanvas' in globalThis ? new OffscreenCanvas(side, side) : Object.assign(document.createElement('canvas'), { width: side, height: side })
    const ctx = made.getContext('2d') as CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D | null
    if (!ctx) continue
    ctx.scale(side / cell, side / cell)
    drawCell(ctx, c, cell, colours)
    of.set(c, 'transferToImageBitmap' in made ? made.transferToImageBitmap() : made)
  }
  return { colours, ratio, cell, of }
}

function padOf(cell: number): number {
  return Math.max(1.5, cell * 0.12)
}

// The shape alone tells the states apart: full, crossed out, filled to its height, a triangle,
// a question mark, a dot.
export function drawCell(ctx: CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D, c: string, cell: number, k: Colours): void {
  const pad = padOf(cell)
  const size = cell - 2 * pad
  ctx.lineWidth = Math.max(1.25, cell * 0.09)
  switch (cellState(c)) {
    case 'passed':
      ctx.fillStyle = k.good
      ctx.fillRect(pad, pad, size, size)
      return
    case 'failed': {
      ctx.strokeStyle = k.bad
      const q = pad + size * 0.12
      ctx.lineWidth *= 1.25
      ctx.beginPath()
      ctx.moveTo(q, q)
      ctx.lineTo(cell - q, cell - q)
      ctx.moveTo(cell - q, q)
      ctx.lineTo(q, cell - q)
      ctx.stroke()
      return
    }
    case 'partial': {
      const high = size * share(c)
      ctx.fillStyle = k.accent
      ctx.fillRect(pad, pad + size - high, size, high)
      ctx.strokeStyle = k.accent
      ctx.lineWidth = 1
      ctx.strokeRect(pad + 0.5, pad + 0.5, size - 1, size - 1)
      return
    }
    case 'error':
      ctx.strokeStyle = k.bad
      ctx.beginPath()
      ctx.moveTo(cell / 2, pad)
      ctx.lineTo(cell - pad, cell - pad)
      ctx.lineTo(pad, cell - pad)
      ctx.closePath()
      ctx.stroke()
      return
    case 'unmeasured':
      ctx.fillStyle = k.muted
      ctx.font = `600 ${Math.round(cell * 0.72)}px system-ui, sans-serif`
      ctx.textAlign = 'center'
      ctx.textBaseline = 'middle'
      ctx.fillText('?', cell / 2, cell / 2 + cell * 0.04)
      return
    case 'none':
      ctx.fillStyle = k['strong-line']
      ctx.fillRect(cell / 2 - 1, cell / 2 - 1, 2, 2)
  }
}

export interface Scene {
  geometry: Geometry
  picture: Picture
  columns: GridColumn[]
  tasks: GridTask[] // in the order of the rows
  index: number[] // of each row, the place of its task in the cells of a column
  at: { row: number; col: number } | null // under the pointer, or chosen by key
  alike: number // characters that the texts of all tasks begin with
}

/** columnLabel is what stands over a column: its step, with a mark for what is no candidate of a step. */
export function columnLabel(c: GridColumn): string {
  if (c.arm === 'seed') return 'seed'
  if (c.arm === 'best' || c.arm === 'final' || c.arm === 'no_skill') return c.arm.replace('_', ' ')
  if (c.step === 0 && c.epoch) return `e${c.epoch}`
  if (c.step === 0) return c.arm
  return String(c.step)
}

/** draw paints the part of the map that is seen when it is scrolled to x, y. */
export function draw(ctx: CanvasRenderingContext2D, s: Scene, x: number, y: number, width: number, height: number): void {
  const { geometry: g, picture: p } = s
  const w = windowOf(g, x, y, width, height)
  ctx.setTransform(p.ratio, 0, 0, p.ratio, 0, 0)
  ctx.fillStyle = p.colours.panel
  ctx.fillRect(0, 0, width, height)
  ctx.save()
  ctx.beginPath()
  ctx.rect(g.left, g.top, width - g.left, height - g.top)
  ctx.clip()
  const pad = padOf(g.cell)
  const square = g.cell - 2 * pad
  const middle = g.cell / 2 - 1
  for (let col = w.col0; col < w.col1; col++) {
    const cells = s.columns[col]?.cells ?? ''
    const left = g.left + col * g.cell - x
    for (let row = w.row0; row < w.row1; row++) {
      const top = g.top + row * g.cell - y
      const c = cells[s.index[row] ?? -1] ?? '.'
      const picture = p.of.get(c)
      if (picture) ctx.drawImage(picture, left, top, g.cell, g.cell)
      else if (c === '1') { // most of a map: a plain square is drawn faster than a picture
        ctx.fillStyle = p.colours.good
        ctx.fillRect(left + pad, top + pad, square, square)
      } else {
        ctx.fillStyle = p.colours['strong-line']
        ctx.fillRect(left + middle, top + middle, 2, 2)
      }
    }
  }
  if (s.at) outline(ctx, s, x, y)
  ctx.restore()
  reasons(ctx, s, x, y, w.row0, w.row1, width, height)
  names(ctx, s, y, w.row0, w.row1, height)
  heads(ctx, s, x, w.col0, w.col1, width)
}

function outline(ctx: CanvasRenderingContext2D, s: Scene, x: number, y: number): void {
  const { geometry: g, picture: p, at } = s
  if (!at || at.col < 0) return
  ctx.strokeStyle = p.colours.text
  ctx.lineWidth = 2
  ctx.strokeRect(g.left + at.col * g.cell - x + 1, g.top + at.row * g.cell - y + 1, g.cell - 2, g.cell - 2)
}

function names(ctx: CanvasRenderingContext2D, s: Scene, y: number, from: number, to: number, height: number): void {
  const { geometry: g, picture: p } = s
  ctx.save()
  ctx.beginPath()
  ctx.rect(0, g.top, g.left - 6, height - g.top)
  ctx.clip()
  ctx.font = `${Math.min(12.5, g.cell * 0.72)}px system-ui, sans-serif`
  ctx.textAlign = 'left'
  ctx.textBaseline = 'middle'
  for (let row = from; row < to; row++) {
    const top = g.top + row * g.cell - y
    if (s.at?.row === row) {
      ctx.fillStyle = p.colours.sunk
      ctx.fillRect(0, top, g.left, g.cell)
    }
    ctx.fillStyle = s.at?.row === row ? p.colours.accent : p.colours.text
    ctx.fillText(nameOf(s.tasks[row]), 8, top + g.cell / 2)
  }
  ctx.restore()
}

const roomForReasons = 160

/** reasons writes beside the map, where there is room, why a task fails, or what it asks. */
function reasons(ctx: CanvasRenderingContext2D, s: Scene, x: number, y: number, from: number, to: number, width: number, height: number): void {
  const { geometry: g, picture: p } = s
  const left = g.left + g.columns * g.cell - x + 14
  if (width - left < roomForReasons) return
  ctx.save()
  ctx.beginPath()
  ctx.rect(left, g.top, width - left - 8, height - g.top)
  ctx.clip()
  ctx.font = '12px system-ui, sans-serif'
  ctx.textAlign = 'left'
  ctx.textBaseline = 'middle'
  ctx.fillStyle = p.colours.muted
  for (let row = from; row < to; row++) {
    const t = s.tasks[row]
    if (t) ctx.fillText(reasonOf(t, s.alike), left, g.top + row * g.cell - y + g.cell / 2)
  }
  ctx.restore()
}

const said = new WeakMap<GridTask, string>()

function reasonOf(t: GridTask, alike: number): string {
  let text = said.get(t)
  if (text === undefined) {
    text = oneLine((t.fail_reason || (alike > 0 ? '… ' : '') + (t.text ?? '').slice(alike)).slice(0, 160))
    said.set(t, text)
  }
  return text
}

const shortened = new WeakMap<GridTask, string>()

function nameOf(t: GridTask | undefined): string {
  if (!t) return ''
  let name = shortened.get(t)
  if (name === undefined) {
    name = oneLine(t.id.slice(0, 60))
    shortened.set(t, name)
  }
  return name
}

function heads(ctx: CanvasRenderingContext2D, s: Scene, x: number, from: number, to: number, width: number): void {
  const { geometry: g, picture: p } = s
  ctx.save()
  ctx.beginPath()
  ctx.rect(g.left, 0, width - g.left, g.top)
  ctx.clip()
  ctx.font = '11px system-ui, sans-serif'
  ctx.textBaseline = 'alphabetic'
  ctx.textAlign = 'left'
  for (let col = from; col < to; col++) {
    const c = s.columns[col]
    if (!c) continue
    ctx.fillStyle = s.at?.col === col ? p.colours.accent : p.colours.muted
    ctx.save()
    ctx.translate(g.left + col * g.cell - x + g.cell / 2 + 4, g.top - 5)
    ctx.rotate(-Math.PI / 2)
    ctx.fillText(columnLabel(c), 0, 0)
    ctx.restore()
  }
  ctx.restore()
  ctx.strokeStyle = p.colours.line
  ctx.lineWidth = 1
  ctx.beginPath()
  ctx.moveTo(0, g.top - 0.5)
  ctx.lineTo(width, g.top - 0.5)
  ctx.moveTo(g.left - 0.5, 0)
  ctx.lineTo(g.left - 0.5, g.top)
  ctx.stroke()
}
