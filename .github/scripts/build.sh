#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds what a definition names, for all its platforms, and pushes each image as one index, by digest: nothing has a tag
# yet. The builder adds provenance and, with SBOM, an SBOM for each platform. Needs docker with the containerd image
# store, emulation of ppc64le (Debian's packages in the harness image), skopeo and jq. Run at the root of the checkout.
#
#   build.sh DEFINITION RECORD
#
# DEFINITION: what `steelyard images build --print` prints. RECORD: by target the names it is to have ("image.name"), the
# digest of the index ("containerimage.digest"), that of each platform ("platforms"), and whether it is on OpenJ9 ("openj9").
# SBOM: on = by the scanner that images/others/Containerfile names; a reference = by that one (images/local/scanner).
set -eu

[ $# -eq 2 ] || { echo "usage: build.sh DEFINITION RECORD" >&2 && exit 2; }
definition=$1 record=$2
# Inside the checkout: newer versions of bake write nowhere else unasked.
mkdir -p .steelyard
work=$(mktemp -d .steelyard/build-XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
scanner=${SBOM:-}
[ "$scanner" != on ] || scanner=$(sed -n 's/^FROM \(.*\) AS scanner$/\1/p' images/others/Containerfile)
: >"$work/images.json"

for target in $(jq --raw-output '.target | keys[]' "$definition"); do
    names=$(jq --raw-output --arg t "$target" '.target[$t].tags | join(",")' "$definition")
    repository=$(echo "${names%%,*}" | sed 's,:[^:/]*$,,')
    # Archive first, then copy: docker's own builder does not push by digest, and another one would be one more image to
    # trust. --preserve-digests makes skopeo fail rather than write anything but the bytes that were built.
    jq --arg t "$target" --arg out "type=oci,dest=$work/image.tar" \
        '{target: {($t): (.target[$t] | del(.tags) | .output = [$out])}}' "$definition" >"$work/one.json"
    docker buildx bake --file "$work/one.json" --provenance mode=max ${scanner:+--sbom "generator=$scanner"} --progress plain \
        --metadata-file "$work/metadata.json" "$target"
    digest=$(jq --raw-output --arg t "$target" '.[$t]["containerimage.digest"]' "$work/metadata.json")
    tls=true
    case $repository in 127.0.0.1:* | localhost:*) tls=false ;; esac
    skopeo copy --quiet --all --preserve-digests --dest-tls-verify="$tls" \
        "oci-archive:$work/image.tar" "docker://$repository@$digest"
    rm -f "$work/image.tar"
    docker buildx imagetools inspect --raw "$repository@$digest" >"$work/index.json"
    openj9=$(jq --arg t "$target" '.target[$t].args // {} | has("BASE_OPENJ9")' "$definition")
    jq --arg t "$target" --arg names "$names" --arg digest "$digest" --argjson openj9 "$openj9" '{($t): {"image.name": $names,
        "containerimage.digest": $digest, "platforms": ([.manifests[] | select(.platform.os != "unknown")
        | {key: "\(.platform.os)/\(.platform.architecture)", value: .digest}] | from_entries), "openj9": $openj9}}' \
        "$work/index.json" >>"$work/images.json"
    echo "build: $repository@$digest ($target)"
done
jq --slurp 'add // error("the definition names no image")' "$work/images.json" >"$record"
