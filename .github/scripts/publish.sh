#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the images of one platform, pushes them by digest (no tag yet), starts the servers among them from the registry,
# and writes a record for join.sh. What fails here never gets into an index. Needs docker with the containerd image store,
# skopeo, git, curl and jq; not the harness, some of whose Python packages have to be compiled on ppc64le. Run at the root
# of the checkout.
#
#   publish.sh DEFINITION PLATFORM RECORD
#
# DEFINITION is what `steelyard images build --print` prints, made once for all platforms.
set -eu

[ $# -eq 3 ] || { echo "usage: publish.sh DEFINITION PLATFORM RECORD" >&2 && exit 2; }
definition=$1 platform=$2 record=$3
here=$(dirname "$0")
# Inside the checkout: newer versions of bake write nowhere else unasked.
mkdir -p .steelyard
work=$(mktemp -d .steelyard/publish-XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
: >"$work/images.json"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
made_of=$(sha256sum "$definition" | cut -d ' ' -f 1)

for target in $(jq --raw-output --arg platform "$platform" \
    '.target | to_entries[] | select(.value.platforms | index($platform)) | .key' "$definition"); do
    # The name without its tag; a port in a registry's address is no tag.
    name=$(jq --raw-output --arg t "$target" '.target[$t].tags[0] | sub(":[^:/]*$"; "")' "$definition")
    jq --arg t "$target" --arg platform "$platform" --arg archive "$work/image.tar" \
        '{target: {($t): (.target[$t] | del(.tags) | .platforms = [$platform] | .output = ["type=oci,dest=" + $archive])}}' \
        "$definition" >"$work/one.json"
    # Archive first, then copy: docker's own builder does not push by digest, and another one would be one more image to
    # trust. --preserve-digests makes skopeo fail rather than write anything but the bytes that were built.
    docker buildx bake --file "$work/one.json" --provenance mode=max --progress plain \
        --metadata-file "$work/metadata.json" "$target"
    digest=$(jq --raw-output --arg t "$target" '.[$t]["containerimage.digest"]' "$work/metadata.json")
    tls=true
    case $name in 127.0.0.1:* | localhost:*) tls=false ;; esac
    skopeo copy --quiet --all --preserve-digests --dest-tls-verify="$tls" \
        "oci-archive:$work/image.tar" "docker://$name@$digest"
    rm -f "$work/image.tar"

    if jq --exit-status --arg t "$target" '.target[$t].labels["dev.steelyard.workload"]' "$definition" >/dev/null; then
        docker pull --quiet --platform "$platform" "$name@$digest" >/dev/null
        "$here/smoke.sh" "$name@$digest" "$platform"
    elif [ "$target" = harness ]; then
        # Imports every Python package, the compiled ones among them.
        docker run --rm --quiet --platform "$platform" --read-only --tmpfs /tmp "$name@$digest" list >/dev/null
        echo "smoke: $target ($platform) runs"
    fi
    # With the builder's attestation the digest is that of an index, and joining indexes joins what is in them.
    jq --arg t "$target" --arg digest "$digest" --arg definition "$made_of" --arg platform "$platform" \
        '{($t): {"image.name": (.target[$t].tags | join(",")), "containerimage.digest": $digest,
          $definition, $platform}}' "$definition" >>"$work/images.json"
    echo "publish: $name@$digest ($target, $platform)"
done
[ -s "$work/images.json" ] || { echo "publish: no image of $definition is built for $platform." >&2 && exit 1; }
jq --slurp add "$work/images.json" >"$record"
