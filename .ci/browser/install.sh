#!/usr/bin/env bash
# Finds Chromium, or installs that of the system's packages, and prints its path. Where
# there is none and none can be installed it says why on standard error and prints nothing.
#
#   .ci/browser/install.sh
set -euo pipefail
for name in "${SKILLOPT_CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
  if [ -n "$name" ] && path=$(command -v "$name"); then
    printf '%s\n' "$path"
    exit 0
  fi
done
why=''
if ! command -v apt-get >/dev/null; then
  why='there is no Chromium, and no apt-get to install it with'
elif [ "$(id -u)" -ne 0 ]; then
  why='there is no Chromium, and who is not root cannot install it'
fi
if [ -z "$why" ]; then
  log=$(mktemp)
  if { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install chromium; } >"$log" 2>&1 && command -v chromium; then
    rm -f "$log"
    exit 0
  fi
  why="apt-get cannot install chromium: $(tail -n 1 "$log")"
  rm -f "$log"
fi
printf '%s\n' "$why" >&2
