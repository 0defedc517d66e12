#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Refuses a tag that does not name the version of this checkout: `v` and what `./steelyard --version` prints.
#
#   version.sh TAG
set -eu

tag=${1:?usage: version.sh TAG}
cd "$(dirname "$0")/../.."
version=$(./steelyard --version | awk '{print $2}')
[ "$tag" = "v$version" ] || {
    echo "version: the tag is $tag and this checkout is $version: tag v$version, or set the version first." >&2
    exit 1
}
echo "version: $version"
