#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# FerretDB on PostgreSQL of this host's packages, both in the foreground, for tests:
#
#   sh ferretdb.sh HOST PORT FOLDER
#   sh ferretdb.sh --build
#
# It is compiled of its Go module the first time, and kept in ~/.cache/steelyard; --build does that alone. PostgreSQL has the same
# port on 127.0.0.2, so that one free port is enough. SIGTERM ends both in order. Exit codes: 1 it cannot be compiled, or did not
# start; 2 bad arguments; 6 something is not installed: the last line says what.
set -u

here=$(cd "$(dirname "$0")" && pwd)
postgresql=$here/../../databases/postgresql.sh
sources=$(cat "$here"/go.* "$here"/*.go | sha256sum | cut -c 1-12)
program=${XDG_CACHE_HOME:-$HOME/.cache}/steelyard/ferretdb-$sources-$(uname -m)

fail() {
  echo "$2" >&2
  exit "$1"
}

sh "$postgresql" --check || exit 6
[ -x "$program" ] || command -v go >/dev/null 2>&1 || fail 6 "FerretDB is compiled of its Go module, and Go (1.24 or newer) is not on PATH"
[ $# -eq 3 ] || [ "${1:-}" = --build ] || fail 2 "Give HOST, PORT and FOLDER, or --build."

if [ ! -x "$program" ]; then
  mkdir -p "${program%/*}" || exit 1
  (cd "$here" && CGO_ENABLED=0 GOTOOLCHAIN=local GOWORK=off go build -tags ferretdb_no_sqlite -trimpath -buildvcs=false \
    -ldflags "-s -w" -o "$program.$$" .) || fail 1 "Go cannot compile FerretDB here"
  mv "$program.$$" "$program" || exit 1
fi
[ "$1" = --build ] && exit 0

sh "$postgresql" 127.0.0.2 "$2" "$3" 64m &
database=$!
"$program" "$1:$2" "postgres://steelyard:steelyard@127.0.0.2:$2/steelyard" &
server=$!
trap 'kill $server 2>/dev/null' TERM INT
# Whichever ends first takes the other along, since FerretDB goes on without PostgreSQL and refuses all commands.
(while kill -0 $database 2>/dev/null; do sleep 1; done; kill $server 2>/dev/null) &
watch=$!
while kill -0 $server 2>/dev/null; do
  wait $server
  code=$?
done
kill $watch $database 2>/dev/null
wait $database
database=$?
[ "$code" = 0 ] && code=$database
exit "$code"
