#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Refuses a tag that does not name the version of this checkout (`v` and what `./steelyard --version` prints), that is not on
# main, or whose version has no part in the changelog.
#
#   version.sh TAG [MAIN]      MAIN: the branch that it has to be on, as git knows it (default origin/main)
set -eu

tag=${1:?usage: version.sh TAG}
cd "$(dirname "$0")/../.."
version=$(./steelyard --version | awk '{print $2}')
[ "$tag" = "v$version" ] || {
    echo "version: the tag is $tag and this checkout is $version: tag v$version, or set the version first." >&2
    exit 1
}
main=${2:-origin/main}
git rev-parse --quiet --verify "$main^{commit}" >/dev/null || { echo "version: git does not know $main: fetch it first" >&2 && exit 1; }
git merge-base --is-ancestor HEAD "$main" || {
    echo "version: this commit is not on $main: what is released was reviewed and tested there first" >&2
    exit 1
}
grep -q "^## $version - " CHANGELOG.md || {
    echo "version: CHANGELOG.md has no part $version: python3 scripts/suite/version.py sets version and heading" >&2
    exit 1
}
echo "version: $version"
