#!/usr/bin/env bash
# Puts skillopt on the path: one that is there already, a release archive whose checksum
# is right, or a build of the action's own sources.
set -euo pipefail
version=${SKILLOPT_VERSION:-}
dir=${SKILLOPT_BIN:-${RUNNER_TEMP:-/tmp}/skillopt-bin}
mkdir -p "$dir"

if [ "$version" = path ]; then
  skillopt --version
  exit 0
fi
if [ -z "$version" ] || [ "$version" = source ]; then
  (cd "${GITHUB_ACTION_PATH:?}" && CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w' -o "$dir/skillopt" ./cmd/skillopt)
else
  if [[ ! $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]]; then
    echo "version: allowed: path, source, or a release such as v1.2.3" >&2
    exit 2
  fi
  case ${RUNNER_OS:-Linux} in Linux) os=linux ;; macOS) os=darwin ;; *) echo "this action runs on Linux and macOS" >&2; exit 2 ;; esac
  case ${RUNNER_ARCH:-X64} in X64) arch=amd64 ;; ARM64) arch=arm64 ;; *) echo "there is no release for ${RUNNER_ARCH}" >&2; exit 2 ;; esac
  name=skillopt_${version}_${os}_${arch}
  base=${SKILLOPT_RELEASES:-https://github.com/seed-f4525e22/skillopt/releases/download}/$version
  get() { curl --fail --silent --show-error --location --retry 3 --max-time 300 --output "$dir/$1" "$base/$1"; }
  get "$name.tar.gz"
  get checksums.txt
  want=$(awk -v name="$name.tar.gz" '$2 == name { print $1 }' "$dir/checksums.txt")
  if command -v sha256sum >/dev/null; then got=$(sha256sum "$dir/$name.tar.gz"); else got=$(shasum -a 256 "$dir/$name.tar.gz"); fi
  if [ -z "$want" ] || [ "${got%% *}" != "$want" ]; then
    echo "$name.tar.gz: the checksum is not that of checksums.txt" >&2
    exit 1
  fi
  tar -xzf "$dir/$name.tar.gz" -C "$dir" --strip-components 1 "$name/skillopt"
fi
"$dir/skillopt" --version
[ -z "${GITHUB_PATH:-}" ] || printf '%s\n' "$dir" >>"$GITHUB_PATH"
