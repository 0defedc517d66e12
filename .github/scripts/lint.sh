#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lints the workflows with actionlint: that on PATH, else one compiled once into .steelyard/tools by Go.
set -eu
cd "$(dirname "$0")/../.."
version=$(sed -n 's/^ *ACTIONLINT: *//p' .github/workflows/test.yml)
program=$(command -v actionlint || echo ".steelyard/tools/actionlint-$version/actionlint")
[ -x "$program" ] ||
    GOBIN=$PWD/$(dirname "$program") CGO_ENABLED=0 go install "github.com/rhysd/actionlint/cmd/actionlint@$version"
exec "$program"
