# What the steps of the action share. Each reads its inputs from variables, never from its
# own text, and leaves what it has to say in $SKILLOPT_OUT.
set -euo pipefail

: "${SKILLOPT_CONFIG:?the input config is empty}"
out=${SKILLOPT_OUT:-${RUNNER_TEMP:-${TMPDIR:-/tmp}}/skillopt}
mkdir -p "$out"
if [ -z "${SKILLOPT_SKILL:-}" ]; then
  if [ -d "$SKILLOPT_CONFIG" ]; then SKILLOPT_SKILL=$SKILLOPT_CONFIG/SKILL.md; else SKILLOPT_SKILL=$(dirname "$SKILLOPT_CONFIG")/SKILL.md; fi
fi

# say FILE: standard input becomes a file of the step, bounded and without the folder that
# nobody else has, and is shown in the log.
say() {
  local text
  text=$(head -c 20000; cat >/dev/null)
  printf '%s\n' "${text//"$out/"/}" >"$out/$1"
  cat "$out/$1"
}

# keyless prints the names of key-env whose variables are empty, as those of secrets are
# in a pull request from a fork.
keyless() {
  local name
  for name in ${SKILLOPT_KEY_ENV:-}; do
    if [[ ! $name =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]]; then
      echo "key-env: $name is no name of a variable" >&2
      return 2
    fi
    [ -n "${!name:-}" ] || printf '%s ' "$name"
  done
}

# may_spend fails, and notes why, where a model cannot be asked.
may_spend() {
  local missing
  missing=$(keyless) || exit 2
  [ -z "$missing" ] && return 0
  printf 'Only linted: %sis not set, as in a pull request from a fork. No model was asked.\n' "$missing" | say skipped.txt
  return 1
}

# linted fails where the tasks or the skill cannot be used: nothing is spent on them.
linted() { [ "$(cat "$out/lint.code" 2>/dev/null || echo 1)" = 0 ]; }

# sets fills the array set_args with --set KEY=VALUE from the lines of the input set.
sets() {
  local line
  set_args=()
  while IFS= read -r line; do
    [ -z "$line" ] || set_args+=(--set "$line")
  done <<<"${SKILLOPT_SET:-}"
}

# tell NAME VALUE sets an output of the action.
tell() { [ -z "${GITHUB_OUTPUT:-}" ] || printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"; }
