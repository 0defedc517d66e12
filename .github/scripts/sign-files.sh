#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the checksums of a release's files into SHA256SUMS and signs that: SHA256SUMS.sigstore.json, which `cosign verify-blob
# --bundle` reads. Needs cosign.
#
#   sign-files.sh [-k KEY] FILE...      KEY: as for sign.sh; all files in one folder, where both are written
set -eu

key=
[ "${1:-}" != -k ] || { key=$2 && shift 2; }
[ $# -gt 0 ] || { echo "usage: sign-files.sh [-k KEY] FILE..." >&2 && exit 2; }
folder=$(dirname "$1")
key=${key:+$(realpath "$key")}
names=
for file in "$@"; do names="$names $(basename "$file")"; done
cd "$folder"
# shellcheck disable=SC2086
sha256sum $names >SHA256SUMS
set -- --yes --bundle SHA256SUMS.sigstore.json
[ -z "$key" ] || set -- "$@" --key "$key" --tlog-upload=false
cosign sign-blob "$@" SHA256SUMS >/dev/null </dev/null
echo "sign-files: $folder/SHA256SUMS"
