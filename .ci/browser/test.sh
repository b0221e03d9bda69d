#!/usr/bin/env bash
# Opens the page of `skillopt serve` in a real browser.
#
#   .ci/browser/test.sh [flags of go test]
#
# With SKILLOPT_SHOTS=DIR screenshots of every view are kept there. Without a browser the
# stage prints why and passes.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
browser=$("$root/.ci/browser/install.sh" 2>"$work/why")
if [ -z "$browser" ]; then
  printf 'the page is not tested in a browser: %s\n' "$(cat "$work/why")"
  exit 0
fi
"$browser" --version || true
(cd "$root" && CGO_ENABLED=0 go build -ldflags '-s -w' -o "$work/skillopt" ./cmd/skillopt)
axe="$root/internal/server/ui/node_modules/axe-core/axe.min.js"
[ -f "$axe" ] || axe=''
mkdir "$work/large"
(cd "$root" && SKILLOPT_LARGE="$work/large/run-1" CGO_ENABLED=0 go test -count=1 ./internal/testing/recordtest >/dev/null)
cd "$root/tools"
SKILLOPT_BINARY="$work/skillopt" SKILLOPT_CHROMIUM="$browser" SKILLOPT_AXE="$axe" SKILLOPT_EXAMPLES="$root/examples" SKILLOPT_LARGE="$work/large/run-1" \
  CGO_ENABLED=0 go test -count=1 -timeout 20m "$@" ./browser
