#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The list of a release's parts by others, made from its SBOMs: name, version, licence as the SBOM states it, and images that hold it.
# Needs docker, jq.
#
#   parts.sh RECORD FILE      FILE: comma-separated values with a first line of names
set -eu

[ $# -eq 2 ] || { echo "usage: parts.sh RECORD FILE" >&2 && exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$(dirname "$0")/sboms.sh" "$1" "$work"
jq --null-input --raw-output '
    [inputs | (input_filename | sub(".*/"; "") | sub("-[^-]*$"; "")) as $image | .packages[]
        | {name, version: (.versionInfo // ""), $image,
            licence: ([.licenseConcluded, .licenseDeclared] | map(select(. and . != "NOASSERTION" and . != "NONE")) | first // "NOASSERTION")}]
    | group_by([.name, .version, .licence])
    | (["name", "version", "licence", "images"], (.[] | [.[0].name, .[0].version, .[0].licence, (map(.image) | unique | join(" "))])) | @csv' \
    "$work"/*.spdx.json >"$2"
echo "parts: $(($(wc -l <"$2") - 1)) in $2"
