#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes one index of what publish.sh pushed for each platform, and tags it: all platforms of every image, or nothing.
# Needs docker with buildx, and jq.
#
#   join.sh RECORD PART...
#
# PARTs are records of publish.sh. RECORD has the form of `steelyard images push --record`, and the digest of each platform.
set -eu

[ $# -ge 2 ] || { echo "usage: join.sh RECORD PART..." >&2 && exit 2; }
record=$1
shift
jq --slurp --exit-status '(map(keys) | unique | length) == 1 and ([.[][].definition] | unique | length) == 1
    and (map([.[].platform] | unique[]) | length == (unique | length))' "$@" >/dev/null || {
    echo "join: these are not records of one definition, of each platform once, with the same images in all." >&2
    exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for target in $(jq --raw-output 'keys[]' "$1"); do
    jq --slurp --arg t "$target" 'map(.[$t])' "$@" >"$work/parts.json"
    names=$(jq --raw-output '.[0]["image.name"] | gsub(","; " ")' "$work/parts.json")
    first=${names%% *}
    repository=${first%:*}
    tags=$(for name in $names; do printf -- '--tag %s ' "$name"; done)
    sources=$(jq --raw-output --arg r "$repository" 'map($r + "@" + .["containerimage.digest"])[]' "$work/parts.json")
    # shellcheck disable=SC2086
    docker buildx imagetools create $tags $sources
    docker buildx imagetools inspect "$first" --format '{{json .Manifest}}' |
        jq --arg t "$target" --arg names "$names" '{($t): {"image.name": ($names | gsub(" "; ",")),
            "containerimage.digest": .digest, "platforms": ([.manifests[] | select(.platform.os != "unknown")
            | {key: "\(.platform.os)/\(.platform.architecture)", value: .digest}] | from_entries)}}' >"$work/entry.json"
    jq --exit-status --arg t "$target" --slurpfile parts "$work/parts.json" \
        '(.[$t].platforms | keys) == ($parts[0] | map(.platform) | sort)' "$work/entry.json" >/dev/null || {
        echo "join: the index $first does not hold what was pushed: push its platforms again." >&2
        exit 1
    }
    cat "$work/entry.json" >>"$work/images.json"
    echo "join: $first"
done
jq --slurp add "$work/images.json" >"$record"
