#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Starts every image of a record that is made for a platform, and writes down which did not work, with the reason: a platform that
# fails drops out of the version (drop.sh). Of the first platform nothing may fail. Needs docker, jq.
#
#   start-record.sh PLATFORM RECORD RESULT
# Images on OpenJ9 are not started under emulation: what they do there says nothing of the hardware.
set -eu

[ $# -eq 3 ] || { echo "usage: start-record.sh PLATFORM RECORD RESULT" >&2 && exit 2; }
platform=$1 record=$2 result=$3
required=linux/amd64
here=$(dirname "$0")
reference='(.["image.name"] | sub(",.*"; "") | sub(":[^:/]*$"; "")) + "@" + .["containerimage.digest"]'
ping=$(jq --raw-output ".[\"ping-hotspot\"] // empty | $reference" "$record")
emulated=true
[ "$platform" != "linux/$(docker version --format '{{.Server.Arch}}')" ] || emulated=false
said=$(mktemp)
trap 'rm -f "$said"' EXIT
failed=

reason() { # of what start.sh said, its last sentence
    grep '^start: .' "$said" | tail -n 1 | sed 's/^start: //' | grep . || tail -n 1 "$said" | grep . || echo "it did not start"
}

: >"$result.lines"
for target in $(jq --raw-output --arg p "$platform" 'to_entries[] | select(.value.platforms | has($p)) | .key' "$record"); do
    image=$(jq --raw-output --arg t "$target" '.[$t] | '"$reference" "$record")
    openj9=$(jq --raw-output --arg t "$target" '.[$t].openj9' "$record")
    why=
    if [ "$emulated $openj9" = "true true" ]; then
        why="OpenJ9 is started on machines of this platform alone, and there was none"
    # With `loadgen` goes `ping`, which it loads.
    elif [ "$target" = loadgen ]; then
        "$here/start.sh" "$platform" "$image" "$ping" >"$said" 2>&1 || why=$(reason)
    else
        "$here/start.sh" "$platform" "$image" >"$said" 2>&1 || why=$(reason)
    fi
    cat "$said"
    : >"$said"
    [ -n "$why" ] || continue
    failed=1
    jq --null-input --compact-output --arg t "$target" --arg p "$platform" --arg why "$why" \
        '{target: $t, platform: $p, why: $why}' >>"$result.lines"
    echo "start-record: $target ($platform): $why"
done
jq --slurp --arg p "$platform" '{platform: $p, failed: .}' "$result.lines" >"$result"
rm -f "$result.lines"
[ "$platform" != "$required" ] || [ -z "$failed" ]
