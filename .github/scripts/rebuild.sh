#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds images twice from nothing, for this machine's platform, and fails unless both are the same to the byte: whoever has the
# commit, the bases and the Java parts can make what was published. Needs docker with BuildKit 0.13 or newer, and jq. Run at the
# root of the checkout.
#
#   rebuild.sh DEFINITION TARGET...     DEFINITION: what `steelyard images build --print` prints
#
# Not for the servers: their build starts them, and what Liberty keeps of that start differs from one to the next.
set -eu

[ $# -ge 2 ] || { echo "usage: rebuild.sh DEFINITION TARGET..." >&2 && exit 2; }
definition=$1
shift
mkdir -p .steelyard
work=$(mktemp -d .steelyard/rebuild-XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
platform=linux/$(docker version --format '{{.Server.Arch}}')
status=0

for target in "$@"; do
    for time in first second; do
        # Files of a layer keep no time of the build but that of the commit.
        jq --arg t "$target" --arg p "$platform" --arg out "type=oci,dest=$work/$time.tar,rewrite-timestamp=true" \
            '{target: {($t): (.target[$t] | del(.tags) | .platforms = [$p] | .output = [$out])}}' "$definition" >"$work/one.json"
        # A statement of how it was built names when.
        docker buildx bake --file "$work/one.json" --no-cache --provenance=false --progress plain \
            --metadata-file "$work/$time.json" "$target"
    done
    first=$(jq --raw-output --arg t "$target" '.[$t]["containerimage.digest"]' "$work/first.json")
    second=$(jq --raw-output --arg t "$target" '.[$t]["containerimage.digest"]' "$work/second.json")
    if [ "$first" = "$second" ]; then
        echo "rebuild: $target is $first, twice"
    else
        echo "rebuild: $target is $first and then $second" >&2
        status=1
    fi
done
exit "$status"
