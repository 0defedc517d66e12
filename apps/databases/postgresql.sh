#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PostgreSQL of this host's packages, in the foreground, with its data in a folder:
#
#   sh postgresql.sh HOST PORT FOLDER [BUFFERS]
#   sh postgresql.sh --check
#
# A folder that is not there is made, with a database, a user and a password that are all `steelyard`. BUFFERS is the memory
# of its shared buffers (512m). SIGTERM ends it in order and at once, whoever is connected, so that the folder can be copied.
# --check says in one line what is missing here. Exit codes: 1 it did not start; 2 bad arguments; 6 not installed, or it
# cannot run as the user who asks.
set -u

fail() {
  echo "$2" >&2
  exit "$1"
}

# Debian and Red Hat keep the programs of each version apart; the newest is taken unless one is on the PATH.
programs=
for program in $(command -v postgres) $(ls -d /usr/lib/postgresql/*/bin/postgres /usr/pgsql-*/bin/postgres 2>/dev/null | sort -V -r); do
  if [ -x "${program%postgres}initdb" ]; then
    programs=${program%/postgres}
    break
  fi
done
[ -n "$programs" ] || fail 6 "PostgreSQL is not installed: apt-get install postgresql, dnf install postgresql-server, or another database"

# It refuses to run as root: then it runs as another user of a namespace of its own, to whom root's files belong.
if [ "$(id -u)" = 0 ]; then
  apart="unshare --user --map-user=$(id -u nobody) --map-group=$(id -g nobody)"
  if ! said=$($apart true 2>&1); then
    fail 6 "PostgreSQL does not run as root, and this host allows no user namespace ($said): start the harness as another user"
  fi
  [ "${1:-}" = --check ] && exit 0
  exec $apart sh "$0" "$@"
fi
[ "${1:-}" = --check ] && exit 0
[ $# -ge 3 ] || fail 2 "Give HOST, PORT and FOLDER, and if you like the memory of its buffers, such as 512m."

host=$1 port=$2 folder=$3 buffers=${4:-512m}
case $buffers in
  *[kK]) buffers=${buffers%?}kB ;;
  *[mM]) buffers=${buffers%?}MB ;;
  *[gG]) buffers=${buffers%?}GB ;;
  *) buffers=$((buffers / 1024))kB ;;
esac

# Made beside it and moved there when it is whole. Texts compare by their characters' numbers, as in Derby.
if [ ! -d "$folder" ]; then
  new=$folder.new
  rm -rf "$new"
  mkdir -p "$new" || exit 1
  echo steelyard > "$new.password"
  "$programs/initdb" --pgdata="$new" --username=steelyard --pwfile="$new.password" --auth=scram-sha-256 \
    --encoding=UTF8 --lc-collate=C --lc-ctype=C.UTF-8 --lc-messages=C --no-sync || exit 1
  echo 'CREATE DATABASE steelyard' | "$programs/postgres" --single -D "$new" postgres || exit 1
  rm "$new.password"
  mv "$new" "$folder" || exit 1
fi

# Connections for twelve JVMs with a hundred each, all of which may be in the midst of a commit in two phases.
"$programs/postgres" -D "$folder" -p "$port" -c listen_addresses="$host" -c unix_socket_directories= \
  -c shared_buffers="$buffers" -c max_connections=1250 -c max_prepared_transactions=1250 &
server=$!
# Its own SIGTERM would wait until the last client has gone.
trap 'kill -INT $server' TERM INT
wait $server
code=$?
while kill -0 $server 2>/dev/null; do
  wait $server
  code=$?
done
exit $code
