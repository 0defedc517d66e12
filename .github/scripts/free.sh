#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Refuses names that are taken: a published version is never overwritten. A name that stands for the digest of the record
# is free, so that what failed half way can be run again. A registry that does not say is no registry that says no.
#
#   free.sh FILE      a definition (`steelyard images build --print`) or a record (build.sh). For ghcr.io also needs gh
set -eu

file=${1:?usage: free.sh FILE}
names=$(jq --raw-output '(.target // .)[] | . as $one | (.tags // (.["image.name"] | split(",")))[]
    | "\(.) \($one["containerimage.digest"] // "none")"' "$file")
[ -n "$names" ] || { echo "free: $file names no image" >&2 && exit 1; }
taken=0

# ghcr.io denies what does not exist as it denies what is another's; GitHub says 404 for both kinds of owner then. (A package that this token
# may not even see is 404, too: it cannot be written either.)
unknown_to_github() { # NAME
    path=${1#ghcr.io/}
    path=${path%:*}
    for kind in orgs users; do
        ! told=$(gh api "$kind/${path%%/*}/packages/container/$(printf %s "${path#*/}" | sed 's,/,%2F,g')" 2>&1 >/dev/null </dev/null) || return 1
        case $told in *"HTTP 404"*) ;; *) said="$said; $told" && return 1 ;; esac
    done
}

while read -r name digest; do
    tls=true
    case $name in 127.0.0.1:* | localhost:*) tls=false ;; esac
    if said=$(skopeo inspect --tls-verify="$tls" --raw "docker://$name" 2>&1 >/dev/null); then
        found=$(docker buildx imagetools inspect "$name" --format '{{json .Manifest}}' | jq --raw-output .digest)
        [ "$found" = "$digest" ] || { echo "free: $name is taken by $found" >&2 && taken=1; }
        continue
    fi
    case $said in
        *"manifest unknown"* | *"name unknown"*) continue ;;
        *denied*) case $name in ghcr.io/*) ! unknown_to_github "$name" || continue ;; esac ;;
    esac
    echo "free: whether $name is free cannot be told: $said" >&2 && exit 1
done <<NAMES
$names
NAMES
exit "$taken"
