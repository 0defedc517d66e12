#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Takes back a version that was half made: each index of a record goes from its registry, with every name that it was given. A name that
# stands for something else stays, and ends it. For a version that nobody has yet: what was pulled does not come back.
#
#   undo.sh RECORD      Needs curl, jq, docker; for ghcr.io, which deletes by GitHub alone, gh with a token that may (delete:packages)
#   REGISTRY_TOKEN: of another registry; none for one on this machine
set -eu

record=${1:?usage: undo.sh RECORD}
names=$(jq --raw-output '.[] | .["containerimage.digest"] as $digest | .["image.name"] | split(",")[] | "\(.) \($digest)"' "$record")
[ -n "$names" ] || { echo "undo: $record names no image" >&2 && exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 077
: >"$work/curl"
[ -z "${REGISTRY_TOKEN:-}" ] ||
    printf 'header = "Authorization: Bearer %s"\n' "$(printf %s "$REGISTRY_TOKEN" | base64 | tr -d '\n')" >"$work/curl"

# First all are looked at, then all go.
"$(dirname "$0")/free.sh" "$record" || { echo "undo: nothing was taken back" >&2 && exit 1; }

github() { # OWNER PACKAGE DIGEST
    package=$(printf %s "$2" | sed 's,/,%2F,g')
    for kind in orgs users; do
        versions=$kind/$1/packages/container/$package/versions
        id=$(gh api --paginate "$versions" --jq ".[] | select(.name == \"$3\") | .id" 2>"$work/said") || continue
        [ -z "$id" ] || gh api --method DELETE "$versions/$id"
        return
    done
    echo "undo: GitHub does not list the versions of $1/$2: $(tail -n 1 "$work/said")" >&2
    exit 1
}

jq --raw-output '.[] | (.["image.name"] | sub(",.*"; "") | sub(":[^:/]*$"; "")) + " " + .["containerimage.digest"]' "$record" |
    while read -r name digest; do
        host=${name%%/*} path=${name#*/}
        if [ "$host" = ghcr.io ]; then
            github "${path%%/*}" "${path#*/}" "$digest"
        else
            scheme=https
            case $host in 127.0.0.1:* | localhost:*) scheme=http ;; esac
            status=$(curl --silent --show-error --config "$work/curl" --request DELETE --output "$work/said" --write-out '%{http_code}' \
                "$scheme://$host/v2/$path/manifests/$digest")
            # 404: it is gone already.
            case $status in 202 | 404) ;; *) echo "undo: $host does not delete $path@$digest: $status $(head -c 300 "$work/said")" >&2 && exit 1 ;; esac
        fi
        echo "undo: $name@$digest is gone"
    done
