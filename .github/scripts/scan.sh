#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Looks for known holes in what this project depends on: the lock files of the checkout, and with a record the SBOM of each platform
# of each image. What was looked at and accepted stands in .github/osv-scanner.toml, each with its reason and until when.
# Needs osv-scanner; with a record also docker, jq.
#
#   scan.sh [RECORD]
set -eu

cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
look() { osv-scanner scan source --config .github/osv-scanner.toml "$@" || status=$?; }

# Of the POMs and Go's modules it knows the names, of these not.
look --recursive --lockfile requirements.txt:scripts/requirements.lock \
    --lockfile requirements.txt:scripts/requirements-test.lock --lockfile requirements.txt:scripts/requirements-site.lock .
if [ $# -gt 0 ]; then
    for target in $(jq --raw-output 'keys[]' "$1"); do
        image=$(jq --raw-output --arg t "$target" '.[$t] | (.["image.name"] | sub(",.*"; "") | sub(":[^:/]*$"; "")) + "@" + .["containerimage.digest"]' "$1")
        for platform in $(jq --raw-output --arg t "$target" '.[$t].platforms | keys[]' "$1"); do
            file=$work/$target-${platform#*/}.spdx.json
            docker buildx imagetools inspect "$image" --format "{{ json (index .SBOM \"$platform\").SPDX }}" >"$file"
            # An image without a list of what is in it was not looked at.
            jq --exit-status '.packages | length > 0' "$file" >/dev/null || { echo "scan: $image has no SBOM for $platform" >&2 && exit 1; }
            look --lockfile "$file"
        done
    done
fi
exit "$status"
