#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetches the SBOM of each platform of each image of a record: FOLDER/TARGET-ARCHITECTURE.spdx.json. An image without a list of what
# is in it ends it. Needs docker, jq.
#
#   sboms.sh RECORD FOLDER
set -eu

[ $# -eq 2 ] || { echo "usage: sboms.sh RECORD FOLDER" >&2 && exit 2; }
record=$1
# Of an image of one platform the builder's client names no platform.
one_of() { if [ "$(jq --arg t "$1" '.[$t].platforms | length' "$record")" = 1 ]; then echo "\$all"; else echo "index \$all \"$2\""; fi; } # TARGET PLATFORM
mkdir -p "$2"
for target in $(jq --raw-output 'keys[]' "$1"); do
    image=$(jq --raw-output --arg t "$target" '.[$t] | (.["image.name"] | sub(",.*"; "") | sub(":[^:/]*$"; "")) + "@" + .["containerimage.digest"]' "$1")
    for platform in $(jq --raw-output --arg t "$target" '.[$t].platforms | keys[]' "$1"); do
        file=$2/$target-${platform#*/}.spdx.json
        docker buildx imagetools inspect "$image" \
            --format "{{ \$all := .SBOM }}{{ with $(one_of "$target" "$platform") }}{{ json .SPDX }}{{ end }}" >"$file"
        { [ -s "$file" ] && jq --exit-status '.packages | length > 0' "$file" >/dev/null; } || { echo "sboms: $image has no SBOM for $platform" >&2 && exit 1; }
    done
done
