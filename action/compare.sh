#!/usr/bin/env bash
# Compares the skill of the checkout with that of the base branch, on the tasks of the
# checkout.
. "$(dirname "$0")/lib.sh"
linted && may_spend || exit 0
if [ -z "${SKILLOPT_BASE:-}" ]; then
  echo "Not compared: there is no base branch, as there is for a pull request." | say compare.txt
  exit 0
fi
git check-ref-format "refs/heads/$SKILLOPT_BASE" || { echo "base: $SKILLOPT_BASE is no name of a branch" >&2; exit 2; }
# Hooks and programs that the checkout names are not run.
git=(git -c core.hooksPath=/dev/null -c core.fsmonitor=false)
"${git[@]}" fetch --quiet --no-tags --depth=1 origin "refs/heads/$SKILLOPT_BASE"
base=$("${git[@]}" rev-parse --verify FETCH_HEAD)
prefix=$("${git[@]}" rev-parse --show-prefix)
mkdir "$out/base"
"${git[@]}" archive --format=tar "$base" | tar -x -C "$out/base"
old=$out/base/$prefix$SKILLOPT_SKILL
if [ ! -e "$old" ]; then
  echo "Not compared: $SKILLOPT_BASE has no $SKILLOPT_SKILL." | say compare.txt
  exit 0
fi
if diff -rq "$old" "$SKILLOPT_SKILL" >/dev/null; then
  echo "Not compared: the skill is that of $SKILLOPT_BASE." | say compare.txt
  exit 0
fi
sets
code=0
skillopt compare "$old" "$SKILLOPT_SKILL" --config "$SKILLOPT_CONFIG" --split "${SKILLOPT_SPLIT:-selection}" --passes "${SKILLOPT_PASSES:-10}" \
  --yes --run "$out/compare" "${set_args[@]}" >"$out/compare.all" 2>"$out/compare.err" || code=$?
if [ "$code" != 0 ]; then cat "$out/compare.err" >>"$out/compare.all"; fi
text=$(cat "$out/compare.all")
printf '%s\n' "${text//"$out/base/$prefix"/"$SKILLOPT_BASE: "}" | say compare.txt
cat "$out/compare.err" >&2
echo "$code" >"$out/compare.code"
if [ "$code" = 0 ]; then
  verdict=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["verdict"])' "$out/compare/comparison.json")
  echo "$verdict" >"$out/verdict"
  tell verdict "$verdict"
fi
