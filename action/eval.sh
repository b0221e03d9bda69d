#!/usr/bin/env bash
# Scores the skill of the checkout.
. "$(dirname "$0")/lib.sh"
linted && may_spend || exit 0
sets
args=("$SKILLOPT_CONFIG" --split "${SKILLOPT_SPLIT:-selection}" --yes --run "$out/eval" "${set_args[@]}")
args+=(--junit "$out/junit.xml")
code=0
skillopt eval "${args[@]}" >"$out/eval.all" 2>"$out/eval.err" || code=$?
if [ "$code" != 0 ]; then cat "$out/eval.err" >>"$out/eval.all"; fi
say eval.txt <"$out/eval.all"
cat "$out/eval.err" >&2
echo "$code" >"$out/eval.code"
