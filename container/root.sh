#!/usr/bin/env bash
# Lays out the files of the image in a folder: the program, static and stripped, the
# certificates of this system, and what programs expect of any system. Variables: TAGS and
# VERSION of the build, both may be empty.
#
#   container/root.sh FOLDER
set -euo pipefail
to=${1:?usage: container/root.sh FOLDER}
umask 022
mkdir -p "$to"/{usr/bin,etc/ssl/certs,work,tmp}
CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags "${TAGS:-}" -ldflags "-s -w -X main.version=${VERSION:-}" -o "$to/usr/bin/skillopt" ./cmd/skillopt
cp -L "${CERTIFICATES:-/etc/ssl/certs/ca-certificates.crt}" "$to/etc/ssl/certs/ca-certificates.crt"
printf 'root:x:0:0:root:/:/sbin/nologin\nskillopt:x:65532:65532:skillopt:/work:/sbin/nologin\n' >"$to/etc/passwd"
printf 'root:x:0:\nskillopt:x:65532:\n' >"$to/etc/group"
# Whoever runs it may be another user than that of the image.
chmod 1777 "$to/tmp" "$to/work"
