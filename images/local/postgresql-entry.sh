#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# First process of the base `postgresql`. It takes what bundles give to the published image of PostgreSQL: POSTGRES_USER,
# POSTGRES_DB, POSTGRES_PASSWORD or _FILE, POSTGRES_INITDB_ARGS and PGDATA. It makes the database where PGDATA has none, with
# no address to listen on until that is done, and becomes the command. It runs as the user that the container has, never as root.
set -eu

fail() { printf 'postgresql: %s\n' "$*" >&2; exit 1; }

case ${1:-} in '' | -*) set -- postgres "$@" ;; esac
[ "$1" = postgres ] || exec "$@"
[ "$(id -u)" != 0 ] || fail "PostgreSQL does not run as root: give the container the user 999:999"

mkdir -p "$PGDATA"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    user=${POSTGRES_USER:-postgres}
    password=${POSTGRES_PASSWORD:-}
    [ -z "${POSTGRES_PASSWORD_FILE:-}" ] || password=$(cat "$POSTGRES_PASSWORD_FILE")
    [ -n "$password" ] || fail "there is no password: POSTGRES_PASSWORD, or POSTGRES_PASSWORD_FILE with the path of a file that holds it"
    new=$(mktemp)
    printf '%s\n' "$password" >"$new"
    # Words of the options are split, as in the published image.
    # shellcheck disable=SC2086
    initdb --username="$user" --pwfile="$new" --auth-local=trust --auth-host=trust ${POSTGRES_INITDB_ARGS:-} </dev/null
    rm "$new"
    printf '\nhost all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
    if [ "${POSTGRES_DB:-$user}" != postgres ]; then
        pg_ctl --wait --silent --options="-c listen_addresses=''" start
        # psql puts the name into the statement, quoted.
        printf 'CREATE DATABASE :"name";\n' | psql --no-psqlrc --quiet --username="$user" --dbname=postgres \
            --set=ON_ERROR_STOP=1 --set=name="${POSTGRES_DB:-$user}"
        pg_ctl --wait --silent --mode=fast stop
    fi
    printf "\nlisten_addresses = '*'\n" >>"$PGDATA/postgresql.conf"
fi
exec "$@"
