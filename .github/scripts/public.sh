#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes sure that a stranger may pull what is published: reads each index of a record as somebody without a name. On ghcr.io a package may
# be private when it is new, though its repository is public. Needs curl, jq.
#
#   public.sh RECORD
set -eu

record=${1:?usage: public.sh RECORD}
images=$(jq --raw-output '.[] | (.["image.name"] | sub(",.*"; "") | sub(":[^:/]*$"; "")) + " " + .["containerimage.digest"]' "$record")
[ -n "$images" ] || { echo "public: $record names no image" >&2 && exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# --disable: no file of this user gives a name after all.
ask() { curl --disable --silent --show-error --output "$work/said" --write-out '%{http_code}' "$@" 2>"$work/error" || true; }
of_challenge() { sed -n "s/^www-authenticate: *bearer .*$1=\"\([^\"]*\)\".*/\1/Ip" "$work/headers"; } # realm, service

status=0
while read -r name digest; do
    host=${name%%/*} path=${name#*/}
    scheme=https
    case $host in 127.0.0.1:* | localhost:*) scheme=http ;; esac
    set -- --header 'Accept: application/vnd.oci.image.index.v1+json' "$scheme://$host/v2/$path/manifests/$digest"
    code=$(ask --dump-header "$work/headers" "$@")
    if [ "$code" = 401 ]; then
        # A token without a name: registries give one for what is public.
        code=$(ask --get --data-urlencode "service=$(of_challenge service)" --data-urlencode "scope=repository:$path:pull" "$(of_challenge realm)")
        [ "$code" != 200 ] || code=$(ask --header "Authorization: Bearer $(jq --raw-output '.token // .access_token' "$work/said")" "$@")
    fi
    case $code in
    200) echo "public: $name" ;;
    401 | 403) echo "public: strangers may not pull $name: make the package ${path#*/} public, then run this job again" >&2 && status=1 ;;
    *) echo "public: whether strangers may pull $name cannot be told: $code $(cat "$work/error")" >&2 && status=1 ;;
    esac
done <<IMAGES
$images
IMAGES
exit "$status"
