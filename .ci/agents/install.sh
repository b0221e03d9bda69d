#!/usr/bin/env bash
# Installs the pinned agents of package.json into a folder, for the tests of real
# agents: codex, claude and pi with a node for them and a server of tools, or with "all" copilot, gemini, opencode and qwen
# besides. Where that is impossible it says why, leaves the reason in the file
# "unavailable" of the folder and succeeds: the tests then skip and print it.
#
#   .ci/agents/install.sh DIR [all]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?usage: install.sh DIR [all]}
set=${2:-some}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
rm -f "$dir/unavailable"

unavailable() {
  printf '%s\n' "$1" | tee "$dir/unavailable"
  exit 0
}

command -v npm >/dev/null || unavailable "npm is not installed"
major=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null) || unavailable "node is not installed"
[ "$major" -ge 20 ] || unavailable "node $major is too old: npm needs 20"

want="$set $(cat "$here/package.json" "$here/package-lock.json" | sha256sum | cut -d' ' -f1)"
if [ "$(cat "$dir/installed" 2>/dev/null)" = "$want" ]; then
  echo "the agents are in $dir already"
  exit 0
fi
timeout 30 npm ping >/dev/null 2>&1 || unavailable "the npm registry $(npm config get registry 2>/dev/null) cannot be reached"

rm -f "$dir/installed"
cp "$here/package.json" "$here/package-lock.json" "$dir/"
omit=(--omit=dev)
[ "$set" = all ] && omit=()
began=$SECONDS
# They run by the node among them, whatever node is here: what they ask for is not of this one.
# Not "npm ci": it refuses a lock file without the packages of other systems,
# which npm leaves out when it writes one.
(cd "$dir" && timeout 600 npm install "${omit[@]}" --no-save --no-audit --no-fund --loglevel=error)
printf '%s' "$want" >"$dir/installed"
printf 'installed into %s in %d s: ' "$dir" "$((SECONDS - began))"
ls "$dir/node_modules/.bin" | grep -xE 'claude|codex|copilot|gemini|opencode|pi|qwen' | tr '\n' ' '
echo
