#!/bin/sh
# Builds the page of `skillopt serve` from its sources, with the locked packages, and proves
# that internal/server/ui/dist is what they build to, byte for byte. Runs its tests before.
# Needs Node 20.19 or newer, and the registry or npm's cache.
set -eu

ui=$(cd "$(dirname "$0")/../../internal/server/ui" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$ui"

# Warm: the packages are there already when the lock has not changed since they were put there.
lock=node_modules/.installed-lock
if ! cmp -s package-lock.json "$lock"; then
	npm ci --no-audit --no-fund --prefer-offline --ignore-scripts
	cp package-lock.json "$lock"
fi

npm test --silent
npm run --silent check
UI_OUT="$out" npm run --silent build

if ! diff -r "$out" dist >/dev/null; then
	echo "internal/server/ui/dist is not what its sources build to:" >&2
	diff -rq "$out" dist >&2 || true
	echo "help: cd internal/server/ui && npm ci && npm run build, and commit dist" >&2
	exit 1
fi
echo "the page is what its sources build to: $(find dist -type f | wc -l) files, $(cat dist/index.html dist/assets/* | gzip -9c | wc -c) bytes compressed in all"
