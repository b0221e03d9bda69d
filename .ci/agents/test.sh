#!/usr/bin/env bash
# Tests the adapters with the real agents that install.sh put into a folder,
# where permitted in a network namespace that has nothing but loopback.
#
#   .ci/agents/test.sh DIR [flags of the test binary]
#
# With SKILLOPT_AGENTS_RESULTS=FILE, absolute, what was found is kept in that file, from
# which `go test ./docs -update` makes the table of docs/agents.md.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
SKILLOPT_AGENTS_DIR=$(cd "${1:?usage: test.sh DIR [flags]}" && pwd)
export SKILLOPT_AGENTS_DIR PATH=$SKILLOPT_AGENTS_DIR/node_modules/.bin:$PATH # the node among them runs them
shift
if [ -s "$SKILLOPT_AGENTS_DIR/unavailable" ]; then
  printf 'real agents are not tested: %s\n' "$(cat "$SKILLOPT_AGENTS_DIR/unavailable")"
  exit 0
fi
work=$(mktemp -d)
beside=''
# tell ends what still runs beside the rest, and prints what it found.
tell() {
  local code=0
  [ -z "$beside" ] || { [ -z "${1:-}" ] || kill "$beside" 2>/dev/null || true; wait "$beside" || code=$?; cat "$work/agent.log"; }
  beside=''
  return "$code"
}
trap 'tell now || true; rm -rf "$work"' EXIT
# Without what debuggers need, which nobody uses here, linking is quicker.
built() { (cd "$root" && CGO_ENABLED=0 go test -c -ldflags '-s -w' -o "$work/$1.test" "$2"); }
built agent ./internal/agent
built wiring ./internal/wiring
built train ./internal/acceptance
built harvest ./internal/sleep/harvest
built night ./internal/sleep/night

lone='ip link set lo up && exec "$@"'
wrap=()
if command -v ip >/dev/null; then
  for how in -n -rn; do
    if unshare "$how" sh -c "$lone" sh true 2>/dev/null; then
      wrap=(unshare "$how" sh -c "$lone" sh)
      break
    fi
  done
fi
if [ ${#wrap[@]} -gt 0 ]; then
  echo 'in a network namespace with only loopback'
else
  echo 'not in a network namespace: unshare or ip is missing or not permitted'
fi
# One agent after the other, then side by side those that only wait for a deadline: beside the tests that follow.
(cd "$root/internal/agent" && exec "${wrap[@]}" "$work/agent.test" -test.run '^Test(Real|BuiltinBehaves)' -test.v -test.parallel 16 -test.timeout 20m "$@") >"$work/agent.log" 2>&1 &
beside=$!
# What doctor has them show.
(cd "$root/internal/wiring" && "${wrap[@]}" "$work/wiring.test" -test.run '^TestReal' -test.v -test.timeout 20m "$@")
# What they write down of their sessions.
(cd "$root/internal/sleep/harvest" && "${wrap[@]}" "$work/harvest.test" -test.run '^TestReal' -test.v -test.timeout 20m "$@")
# Whole training runs with agents as targets.
(cd "$root/internal/acceptance" && "${wrap[@]}" "$work/train.test" -test.run '^TestReal' -test.v -test.timeout 20m "$@")
tell
# Nights that replay tasks with them: what they reach, and what they learn.
# On the disk: agents have a shared memory of their own, in which their workspaces do not lie.
(cd "$root/internal/sleep/night" && TMPDIR=${TMPDIR:-/tmp} "${wrap[@]}" "$work/night.test" -test.run '^TestReal' -test.v -test.timeout 20m "$@")
