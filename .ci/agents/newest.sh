#!/usr/bin/env bash
# Prints how the newest of all agents fare with the adapters that were measured with the
# pinned ones: of each the newest version that can be installed. It installs them into a
# folder of its own, with the pinned node, tests each alone, and never fails: what is
# prints is for those who move the pins. It takes ten minutes at most; without npm or its
# registry it prints why it was skipped.
#
#   .ci/agents/newest.sh
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
pins() { node -p "const p = require('$root/.ci/agents/package.json'); Object.entries({...p.dependencies, ...p.devDependencies}).map(e => e.join(' ')).join('\n')"; }
ends=$((SECONDS + 600))
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
install() { (cd "$work/agents" && timeout "$(left)" npm install --no-audit --no-fund --loglevel=error "$1") >"$work/log" 2>&1; }
# newest lists the last versions of a package, the newest first, without those to come.
newest() { timeout 60 npm view "$1" versions --json 2>/dev/null | node -e '
  const all = JSON.parse(require("fs").readFileSync(0, "utf8"));
  console.log([all].flat().filter((v) => /^[0-9.]+$/.test(v)).sort((a, b) => b.localeCompare(a, "en", {numeric: true})).slice(0, 5).join("\n"));'; }
there=0
while read -r package pinned; do
  [ "$package" != node ] || { install "node@$pinned" || skip "node $pinned cannot be installed"; continue; }
  got=''
  for version in $(newest "$package"); do # one that cannot be installed does not keep the others out
    install "$package@$version" && { got=$version; break; }
    printf '%s %s cannot be installed: %s\n' "$package" "$version" "$(grep -m 1 'error' "$work/log" || echo 'not in time')"
  done
  [ -n "$got" ] || continue
  there=$((there + 1))
  printf '%s: newest %s, pinned %s\n' "$package" "$got" "$pinned"
done < <(pins)
[ "$there" -gt 0 ] || skip 'none can be installed'
export CGO_ENABLED=0 SKILLOPT_AGENTS_DIR=$work/agents SKILLOPT_AGENTS_RESULTS=$work/results
cd "$root" || skip 'the checkout is gone'
for room in wiring agent; do
  timeout "$(left)" go test -c -o "$work/$room.test" "./internal/$room" >/dev/null 2>&1 || skip "the tests of internal/$room do not build in time"
done
(cd internal/wiring && timeout "$(left)" "$work/wiring.test" -test.run '^TestRealProof$' -test.v >"$work/log" 2>&1)
(cd internal/agent && timeout "$(left)" "$work/agent.test" -test.run '^TestReal(Tool|WrongKey|TwoFaults)$' >>"$work/log" 2>&1)
[ -s "$work/results" ] || { tail -5 "$work/log"; skip 'none of them came to a result in time'; }
node -e '
  for (const line of require("fs").readFileSync(process.argv[1], "utf8").trim().split("\n")) {
    const r = JSON.parse(line);
    console.log(`${r.agent} ${r.version}: ${r.behaviour}: ${r.ok ? "yes" : "NO"}`);
  }' "$work/results" | sort
grep -E '^ +real_test.go:[0-9]+: (not proven|there is no|agent\.|[a-z]+ with)' "$work/log" | cut -c1-400
exit 0
