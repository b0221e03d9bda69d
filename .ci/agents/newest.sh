#!/usr/bin/env bash
# Prints how the newest codex, claude and pi fare with the adapters that were measured
# with the pinned ones. It installs them into a folder of its own, tests each alone, and
# never fails: what is printed is for whoever moves the pins. It takes four minutes at
# most; without npm or its registry it prints why it was skipped.
#
#   .ci/agents/newest.sh
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
packages=(@openai/codex @anthropic-ai/claude-code @earendil-works/pi-coding-agent)
ends=$((SECONDS + 220))
left() { printf '%d' $((ends > SECONDS + 5 ? ends - SECONDS : 5)); }

skip() {
  printf 'the newest agents are not tested: %s\n' "$1"
  exit 0
}

command -v npm >/dev/null || skip 'npm is not installed'
timeout 20 npm ping >/dev/null 2>&1 || skip 'the npm registry cannot be reached'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/agents"
printf '{"private": true}' >"$work/agents/package.json"
there=()
for p in "${packages[@]}"; do # one that cannot be installed does not keep the others out
  if (cd "$work/agents" && timeout "$(left)" npm install --no-audit --no-fund --loglevel=error "$p@latest") >"$work/log" 2>&1; then
    there+=("$p")
  else
    printf '%s: the newest cannot be installed: %s\n' "$p" "$(grep -m 1 'error' "$work/log" || echo 'not in time') $(grep -m 1 'No matching' "$work/log")"
  fi
done
[ ${#there[@]} -gt 0 ] || skip 'none can be installed'
for p in "${there[@]}"; do
  want=$(node -p "require('$work/agents/node_modules/$p/package.json').engines?.node ?? 'any node'" 2>/dev/null)
  now=$(node -p "require('$work/agents/node_modules/$p/package.json').version" 2>/dev/null)
  pinned=$(node -p "require('$root/.ci/agents/package.json').dependencies['$p']" 2>/dev/null)
  printf '%s: newest %s, pinned %s, wants node %s, here is %s\n' "$p" "${now:-unknown}" "$pinned" "$want" "$(node --version)"
done
export CGO_ENABLED=0 SKILLOPT_AGENTS_DIR=$work/agents SKILLOPT_AGENTS_RESULTS=$work/results
cd "$root" || skip 'the checkout is gone'
for room in wire agent; do
  timeout "$(left)" go test -c -o "$work/$room.test" "./internal/$room" >/dev/null 2>&1 || skip "the tests of internal/$room do not build in time"
done
(cd internal/wiring && timeout "$(left)" "$work/wiring.test" -test.run '^TestRealProof$/^(claude|codex|pi)$' >"$work/log" 2>&1)
(cd internal/agent && timeout "$(left)" "$work/agent.test" -test.run '^TestReal(Tool|WrongKey|TwoFaults)$' >>"$work/log" 2>&1)
[ -s "$work/results" ] || { tail -5 "$work/log"; skip 'none of them came to a result in time'; }
node -e '
  for (const line of require("fs").readFileSync(process.argv[1], "utf8").trim().split("\n")) {
    const r = JSON.parse(line);
    console.log(`${r.agent} ${r.version}: ${r.behaviour}: ${r.ok ? "yes" : "NO"}`);
  }' "$work/results" | sort
grep -E '^ +real_test.go:[0-9]+: (not proven|[a-z]+ with)' "$work/log" | cut -c1-400
exit 0
