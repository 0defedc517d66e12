#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Describes what was pushed (SPDX documents by syft, one for each platform) and signs it (cosign), the documents as well.
# Needs docker with buildx, jq, cosign, and syft unless -n.
#
#   sign.sh [-n] RECORD FOLDER [KEY]
#   -n      no SPDX documents
#   RECORD  of `steelyard images push --record` or of a release
#   FOLDER  for the documents
#   KEY     private key of cosign: nothing goes to the public log then, so that a lab's image names stay in the lab.
#           Without one cosign signs as this job (keyless), or asks.
set -eu

describe=yes
[ "${1:-}" != -n ] || { describe=no && shift; }
[ $# -ge 2 ] || { echo "usage: sign.sh [-n] RECORD FOLDER [KEY]" >&2 && exit 2; }
record=$1 folder=$2 key=${3:-}
tools='cosign jq docker'
[ "$describe" = no ] || tools="$tools syft"
for tool in $tools; do
    command -v "$tool" >/dev/null || { echo "sign: $tool is not installed." >&2 && exit 3; }
done
mkdir -p "$folder"

by() { # COMMAND ARGUMENTS... IMAGE ; with the key, or as this job
    command=$1
    shift
    set -- --yes "$@"
    [ -z "$key" ] || set -- --key "$key" --tlog-upload=false "$@"
    case $repository in 127.0.0.1:* | localhost:*) set -- --allow-http-registry "$@" ;; esac
    cosign "$command" "$@"
}

for target in $(jq --raw-output 'keys[]' "$record"); do
    repository=$(jq --raw-output --arg t "$target" '.[$t]["image.name"] | sub(",.*"; "") | sub(":[^:/]*$"; "")' "$record")
    index=$(jq --raw-output --arg t "$target" '.[$t]["containerimage.digest"]' "$record")
    by sign --recursive "$repository@$index"
    echo "sign: $repository@$index"
    [ "$describe" = yes ] || continue
    # Not as the beginning of the pipe, where its failure would go unseen.
    manifest=$(docker buildx imagetools inspect "$repository@$index" --format '{{json .Manifest}}')
    echo "$manifest" | jq --raw-output '.manifests[] | select(.platform.os != "unknown")
            | "\(.platform.os)/\(.platform.architecture) \(.digest)"' |
        while read -r platform digest; do
            file=$folder/$target-$(echo "$platform" | tr / -).spdx.json
            # It reads the registry, not the engine, and must not ask for newer versions of itself.
            plain=false
            case $repository in 127.0.0.1:* | localhost:*) plain=true ;; esac
            SYFT_CHECK_FOR_APP_UPDATE=false SYFT_REGISTRY_INSECURE_USE_HTTP=$plain syft scan \
                "registry:$repository@$digest" --platform "$platform" --quiet --output "spdx-json=$file"
            by attest --type spdxjson --predicate "$file" "$repository@$digest" </dev/null
            echo "sign: $file"
        done
done
