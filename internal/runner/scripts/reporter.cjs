// Writes what jest or mocha reports as JUnit XML to $REPORT, file by file. Both call it: jest with settings, mocha with a runner.
const { appendFileSync } = require('node:fs');
const { relative } = require('node:path');
const esc = (s) => String(s).replace(/[^\x09\x0A\x20-\uD7FF\uE000-\uFFFD]/g, '?').replace(/[&<>"\n]/g, (c) => '&#' + c.charCodeAt(0) + ';');
const write = (file, names, ms, status, text) => appendFileSync(process.env.REPORT,
  '<testcase file="' + esc(file && relative(process.cwd(), file)) + '" name="' + esc(names.join(' > ')) + '" time="' + (ms || 0) / 1000 + '">' +
  (status === 'passed' ? '' : status === 'failed' ? '<failure>' + esc(text) + '</failure>' : '<skipped/>') + '</testcase>\n');
module.exports = class {
  constructor(runner) {
    if (!runner || !runner.on) return; // jest
    const end = (status) => (test, err) => write(test.file || '-', test.titlePath(), test.duration, status, err && (err.stack || err.message || err));
    runner.on('pass', end('passed')).on('fail', end('failed')).on('pending', end('skipped'));
  }
  onTestResult(test, result) {
    for (const t of result.testResults) write(test.path, [...t.ancestorTitles, t.title], t.duration, t.status, t.failureMessages.join('\n'));
    if (result.testExecError || !result.testResults.length) write('', [test.path], 0, 'failed', result.failureMessage);
  }
};
