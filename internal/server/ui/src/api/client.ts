// Requests to the API of the server that the page came from. Nothing else is asked.

export type ErrorKind =
  | 'input' | 'auth' | 'forbidden' | 'missing' | 'conflict' | 'damaged' | 'too_large' | 'busy' | 'internal'
  | 'gone' // no server answered

export class ApiError extends Error {
  readonly status: number
  readonly kind: ErrorKind
  readonly help: string

  constructor(message: string, status: number, kind: ErrorKind, help = '') {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.kind = kind
    this.help = help
  }
}

const base = 'api/v1/'
const patience = 60_000 // ms

type Query = Record<string, string | number | boolean | undefined>

/** path writes an address of the API; its parts are escaped. */
export function path(parts: string[], query: Query = {}): string {
  const params = new URLSearchParams()
  for (const [k, v] of Object.entries(query)) if (v !== undefined && v !== '') params.set(k, String(v))
  const tail = params.toString()
  return base + parts.map(encodeURIComponent).join('/') + (tail === '' ? '' : `?${tail}`)
}

export function get<T>(address: string, signal?: AbortSignal): Promise<T> {
  return send<T>('GET', address, undefined, signal)
}

export function post<T>(address: string, body: unknown, wait = patience): Promise<T> {
  return send<T>('POST', address, body, undefined, wait)
}

export function put<T>(address: string, body: unknown): Promise<T> {
  return send<T>('PUT', address, body)
}

/** postForm sends files. */
export function postForm<T>(address: string, form: FormData, wait: number): Promise<T> {
  return send<T>('POST', address, form, undefined, wait)
}

async function send<T>(method: string, address: string, body?: unknown, signal?: AbortSignal, wait = patience): Promise<T> {
  const late = AbortSignal.timeout(wait)
  let response: Response
  try {
    response = await fetch(address, {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      signal: signal ? AbortSignal.any([signal, late]) : late,
      ...(body === undefined ? {} : body instanceof FormData ? { body } : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
    })
  } catch (err) {
    if (signal?.aborted) throw err
    if (late.aborted) throw new ApiError(`the server gave no answer within ${wait / 1000} s`, 0, 'busy')
    throw new ApiError('the server does not answer', 0, 'gone')
  }
  if (!response.ok) throw await failure(response)
  if (response.status === 204) return undefined as T
  try {
    return (await response.json()) as T
  } catch (err) {
    if (signal?.aborted) throw err
    throw new ApiError('the answer of the server broke off', response.status, 'gone')
  }
}

async function failure(response: Response): Promise<ApiError> {
  const fallback: ErrorKind = response.status === 401 ? 'auth' : response.status === 404 ? 'missing' : response.status === 429 ? 'busy' : 'internal'
  try {
    const { error } = (await response.json()) as { error: { message: string; help?: string; kind?: ErrorKind } }
    return new ApiError(error.message, response.status, error.kind ?? fallback, error.help)
  } catch {
    return new ApiError(`the server answered ${response.status} ${response.statusText}`, response.status, fallback)
  }
}
