#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Signs by digest what build.sh pushed: each index and all in it, the builder's SBOM and provenance as well. Needs cosign, jq.
#
#   sign.sh RECORD [KEY]
#   KEY   private key of cosign: nothing goes to the public log then, so that a lab's image names stay in the lab.
#         Without one cosign signs as this job (keyless), or asks.
set -eu

record=${1:?usage: sign.sh RECORD [KEY]}
key=${2:-}
images=$(jq --raw-output '.[] | (.["image.name"] | sub(",.*"; "") | sub(":[^:/]*$"; "")) + "@" + .["containerimage.digest"]' "$record")
[ -n "$images" ] || { echo "sign: $record names no image" >&2 && exit 1; }
for image in $images; do
    set -- --yes --recursive
    [ -z "$key" ] || set -- "$@" --key "$key" --tlog-upload=false
    case $image in 127.0.0.1:* | localhost:*) set -- "$@" --allow-http-registry ;; esac
    cosign sign "$@" "$image" </dev/null
    echo "sign: $image"
done
