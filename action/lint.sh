#!/usr/bin/env bash
# Lints tasks and skill. What is wrong is told in the end, by conclude.sh, so that the
# comment says it too.
. "$(dirname "$0")/lib.sh"
rm -rf "$out"/*.txt "$out"/*.code "$out"/*.all "$out"/*.err "$out"/{verdict,junit.xml,comment.md,eval,compare,base} # of an earlier use in the same job
code=0
{
  skillopt tasks lint "$SKILLOPT_CONFIG" || code=$?
  if [ -e "$SKILLOPT_SKILL" ]; then skillopt skill lint "$SKILLOPT_SKILL" || code=$?; fi
  echo "$code" >"$out/lint.code"
} 2>&1 | say lint.txt
