#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds what a definition names, for all its platforms, and pushes each image as one index, by digest: nothing has a tag
# yet. The builder adds provenance and, with SBOM, an SBOM for each platform. A platform that cannot be built is left out
# of the image, and the record says why; linux/amd64 ends it. Needs docker with the containerd image store, emulation of
# ppc64le (Debian's packages in the harness image), skopeo and jq. Run at the root of the checkout.
#
#   build.sh DEFINITION RECORD
#
# DEFINITION: what `steelyard images build --print` prints. RECORD: by target the names it is to have ("image.name"), the
# digest of the index ("containerimage.digest"), that of each platform ("platforms"), by platform why it is missing
# ("missing"), and whether it is on OpenJ9 ("openj9").
# SBOM: on = by the scanner that images/others/Containerfile names; a reference = by that one (images/local/scanner).
set -eu

[ $# -eq 2 ] || { echo "usage: build.sh DEFINITION RECORD" >&2 && exit 2; }
definition=$1 record=$2
required=linux/amd64
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

# Archive first, then copy: docker's own builder does not push by digest, and another one would be one more image to
# trust. --preserve-digests makes skopeo fail rather than write anything but the bytes that were built.
build() { # PLATFORM... ; the image of $target
    rm -f "$work/image.tar" "$work/built"
    jq --arg t "$target" --arg out "type=oci,dest=$work/image.tar" '{target: {($t): (.target[$t] | del(.tags)
        | .platforms = $ARGS.positional | .output = [$out])}}' --args "$@" <"$definition" >"$work/one.json"
    {
        docker buildx bake --file "$work/one.json" --provenance mode=max ${scanner:+--sbom "generator=$scanner"} --progress plain \
            --metadata-file "$work/metadata.json" "$target" 2>&1 && : >"$work/built"
    } | tee "$work/log" >&2
    [ -e "$work/built" ]
}

for target in $(jq --raw-output '.target | keys[]' "$definition"); do
    names=$(jq --raw-output --arg t "$target" '.target[$t].tags | join(",")' "$definition")
    repository=$(echo "${names%%,*}" | sed 's,:[^:/]*$,,')
    platforms=$(jq --raw-output --arg t "$target" '.target[$t].platforms[]' "$definition")
    : >"$work/missing.json"
    # shellcheck disable=SC2086 # a word for each platform
    build $platforms || {
        # Which of them it was: each alone, then all that could be built together again, of what the builder keeps.
        buildable=
        for platform in $platforms; do
            if build "$platform"; then
                buildable="$buildable $platform"
                continue
            fi
            why=$(grep '^ERROR' "$work/log" | tail -n 1 |
                sed -E 's/^ERROR: *(failed to solve: )?//; s/@sha256:[0-9a-f]+//g; s/[. ]*$//' | cut -c -300 | grep . || echo "it could not be built")
            echo "build: $target ($platform): $why" >&2
            [ "$platform" != "$required" ] || exit 1
            jq --null-input --arg p "$platform" --arg why "$why" '{($p): $why}' >>"$work/missing.json"
        done
        [ -n "$buildable" ] || exit 1
        build $buildable
    }
    digest=$(jq --raw-output --arg t "$target" '.[$t]["containerimage.digest"]' "$work/metadata.json")
    tls=true
    case $repository in 127.0.0.1:* | localhost:*) tls=false ;; esac
    skopeo copy --quiet --all --preserve-digests --dest-tls-verify="$tls" \
        "oci-archive:$work/image.tar" "docker://$repository@$digest"
    rm -f "$work/image.tar"
    docker buildx imagetools inspect --raw "$repository@$digest" >"$work/index.json"
    openj9=$(jq --arg t "$target" '.target[$t].args // {} | has("BASE_OPENJ9")' "$definition")
    jq --arg t "$target" --arg names "$names" --arg digest "$digest" --argjson openj9 "$openj9" --slurpfile missing "$work/missing.json" '
        {($t): {"image.name": $names, "containerimage.digest": $digest, "platforms": ([.manifests[] | select(.platform.os != "unknown")
        | {key: "\(.platform.os)/\(.platform.architecture)", value: .digest}] | from_entries), "missing": ($missing | add // {}),
        "openj9": $openj9}}' \
        "$work/index.json" >>"$work/images.json"
    echo "build: $repository@$digest ($target)"
done
jq --slurp 'add // error("the definition names no image")' "$work/images.json" >"$record"
