// Writes the events of node's runner as JUnit XML, test by test, so that a run that is ended has said what it knew.
const esc = (s) => String(s).replace(/[^\x09\x0A\x20-\uD7FF\uE000-\uFFFD]/g, '?').replace(/[&<>"\n]/g, (c) => '&#' + c.charCodeAt(0) + ';');
import { relative } from 'node:path';
import { inspect } from 'node:util';
export default async function* (source) {
  const stacks = new Map(), said = new Map();
  yield '<testsuites>\n';
  for await (const { type, data } of source) {
    if (type === 'test:stderr') said.set(data.file, ((said.get(data.file) || '') + data.message).slice(-8000));
    if (!/^test:(start|pass|fail)$/.test(type)) continue;
    const stack = stacks.get(data.file) || [];
    stacks.set(data.file, stack);
    stack.length = data.nesting;
    stack[data.nesting] = data.name;
    if (type === 'test:start') continue;
    const whole = data.nesting === 0 && data.name === data.file, error = data.details.error;
    if (whole && type === 'test:pass') continue;
    const cause = error && (error.cause || error);
    const text = whole ? said.get(data.file) || '' : cause ? inspect(cause) : '';
    yield '<testcase file="' + (whole ? '' : esc(relative(process.cwd(), data.file))) + '" name="' + esc(stack.join(' > ')) + '" time="' + data.details.duration_ms / 1000 + '">' +
      (type === 'test:fail' ? '<failure message="' + esc(cause && cause.message || cause) + '">' + esc(text) + '</failure>' : data.skip !== undefined || data.todo !== undefined ? '<skipped/>' : '') + '</testcase>\n';
  }
  yield '</testsuites>\n';
}
