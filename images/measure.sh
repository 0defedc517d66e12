#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures what `images push` pushed: bytes and layers as the registry holds them, and of servers the time to the first
# correct answer and the resident memory then. Prints the table of docs/images.md. Needs docker, jq, skopeo and curl.
#
#   measure.sh RECORD [STARTS]      STARTS of each server on this host's platform (default 3); one of others, emulated
set -eu

record=${1:?usage: measure.sh RECORD [STARTS]}
starts=${2:-3}
smoke=$(dirname "$0")/../.github/scripts/smoke.sh
native=linux/$(docker version --format '{{.Server.Arch}}')

middle() { sort -n | awk '{value[NR] = $1} END {print value[int((NR + 1) / 2)]}'; }

echo "| image | platform | compressed | layers | first response | resident |"
echo "| --- | --- | --- | --- | --- | --- |"
for target in $(jq --raw-output 'keys[]' "$record"); do
    repository=$(jq --raw-output --arg t "$target" '.[$t]["image.name"] | sub(",.*"; "") | sub(":[^:/]*$"; "")' "$record")
    index=$(jq --raw-output --arg t "$target" '.[$t]["containerimage.digest"]' "$record")
    # Not as the beginning of the pipe, where its failure would go unseen.
    manifest=$(docker buildx imagetools inspect "$repository@$index" --format '{{json .Manifest}}')
    echo "$manifest" | jq --raw-output '.manifests[] | select(.platform.os != "unknown")
            | "\(.platform.os)/\(.platform.architecture) \(.digest)"' |
        while read -r platform digest; do
            tls=true
            case $repository in 127.0.0.1:* | localhost:*) tls=false ;; esac
            weight=$(skopeo inspect --raw --tls-verify="$tls" "docker://$repository@$digest" </dev/null |
                jq --raw-output '"\([.layers[].size] | add / 1e6 | round) MB | \(.layers | length)"')
            first=- resident=-
            case $target in
                ping-* | acmeair-*)
                    docker pull --quiet --platform "$platform" "$repository@$digest" >/dev/null </dev/null
                    mark='' number=$starts SMOKE_JVM_ARGS='' SMOKE_SECONDS=60 SMOKE_MEMORY=512m
                    [ "$platform" = "$native" ] ||
                        { mark=' (emulated)' number=1 SMOKE_JVM_ARGS=-XX:TieredStopAtLevel=1 SMOKE_SECONDS=300 SMOKE_MEMORY=1g; }
                    export SMOKE_JVM_ARGS SMOKE_SECONDS SMOKE_MEMORY
                    said=$(for _ in $(seq "$number"); do "$smoke" "$repository@$digest" "$platform" </dev/null; done)
                    first="$(echo "$said" | sed -n 's/.*answered after \([0-9.]*\) s.*/\1/p' | middle) s$mark"
                    resident="$(echo "$said" | sed -n 's/.*, \([0-9]*\) MiB resident$/\1/p' | middle) MiB$mark"
                    ;;
            esac
            echo "| \`$target\` | $platform | $weight | $first | $resident |"
        done
done
