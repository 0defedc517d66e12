#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The last step: gives each index of a record its names, if all of them are free. Run again, it goes on where it stopped.
#
#   tag.sh RECORD
set -eu

record=${1:?usage: tag.sh RECORD}
"$(dirname "$0")/free.sh" "$record"
names=$(jq --raw-output '.[] | .["containerimage.digest"] as $digest | .["image.name"] | split(",")[] | "\(.) \($digest)"' "$record")
while read -r name digest; do
    docker buildx imagetools create --tag "$name" "${name%:*}@$digest" 2>/dev/null
    found=$(docker buildx imagetools inspect "$name" --format '{{json .Manifest}}' | jq --raw-output .digest)
    [ "$found" = "$digest" ] || { echo "tag: $name became $found and not $digest" >&2 && exit 1; }
    echo "tag: $name $digest"
done <<NAMES
$names
NAMES
