// The sheet of keyboard shortcuts.

/** help are the shortcuts, for the sheet. */
export const help: [string, [string, string][]][] = [
  ['Everywhere', [['?', 'this sheet'], ['g r', 'all runs'], ['g n', 'new run'], ['/', 'search']]],
  ['In a run', [
    ['g o', 'overview'], ['g s', 'skill'], ['g e', 'steps and edits'], ['g t', 'tasks'], ['g c', 'certificate'], ['g m', 'cost'], ['g a', 'model calls'], ['g f', 'configuration'], ['g l', 'log'],
  ]],
  ['In the review', [['a', 'accept the task'], ['e', 'edit it'], ['x', 'drop it'], ['j / k', 'next and previous task']]],
  ['In a night', [['d', 'what would change'], ['a', 'the answers of both'], ['u', 'all runs']]],
  ['In steps', [['j / k', 'next and previous step']]],
  ['In the heat map', [['arrow keys', 'move from cell to cell'], ['Home / End', 'first and last column'], ['Page up / down', 'by a screen'], ['Enter', 'open the task']]],
  ['In a task', [['n / p', 'next and previous task that fails'], ['u', 'back to all tasks']]],
]
