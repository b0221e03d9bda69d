#!/usr/bin/env bash
# Ends the action as what it found says.
. "$(dirname "$0")/lib.sh"
for step in lint eval compare; do
  code=$(cat "$out/$step.code" 2>/dev/null || echo 0)
  if [ "$code" != 0 ]; then
    echo "$step ended with exit code $code" >&2
    exit "$code"
  fi
done
linted || { echo "lint did not run to its end" >&2; exit 1; }
if [ "${SKILLOPT_FAIL_IF_WORSE:-true}" = true ] && [ "$(cat "$out/verdict" 2>/dev/null)" = worse ]; then
  echo "the skill is worse than that of the base branch" >&2
  exit 1
fi
