#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Looks for known holes in what this project depends on: the lock files of the checkout, and with a record the SBOM of each platform
# of each image. What was looked at and accepted stands in .github/osv-scanner.toml, each with its reason and until when.
# Needs osv-scanner; with a record also docker, jq.
#
#   scan.sh [RECORD]
set -eu

record=${1:+$(realpath "$1")}
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
look() { osv-scanner scan source --config .github/osv-scanner.toml "$@" || status=$?; }

# Of the POMs and Go's modules it knows the names, of these not.
look --recursive --lockfile requirements.txt:scripts/requirements.lock \
    --lockfile requirements.txt:scripts/requirements-test.lock --lockfile requirements.txt:scripts/requirements-site.lock .
if [ -n "$record" ]; then
    .github/scripts/sboms.sh "$record" "$work"
    for file in "$work"/*.spdx.json; do look --lockfile "$file"; done
fi
exit "$status"
