#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a release does, against a local registry and with bases made from packages: one definition, each platform pushed by
# digest and started, joined into one index, SBOM and signature where the tools are there. A platform of another
# architecture runs emulated. Run at the root of the checkout; STEELYARD_REGISTRY: where to push.
set -eu

registry=${STEELYARD_REGISTRY:-127.0.0.1:5000/steelyard}
work=.steelyard/rehearsal
rm -rf "$work"
mkdir -p "$work"
# Without the harness image, whose packages a release collects on a runner of the platform.
./steelyard images build --print --bases local --registry "$registry" ping-hotspot acmeair-hotspot \
    embedded-mongo loadgen socket-proxy >"$work/definition.json"
for platform in linux/amd64 linux/ppc64le; do
    # The quick compiler alone: emulated, the other one takes longer than it saves.
    SMOKE_SECONDS=240 SMOKE_MEMORY=1g SMOKE_JVM_ARGS=-XX:TieredStopAtLevel=1 \
        .github/scripts/publish.sh "$work/definition.json" "$platform" "$work/$(echo "$platform" | tr / -).json"
done
.github/scripts/join.sh "$work/published.json" "$work/linux-amd64.json" "$work/linux-ppc64le.json"
if command -v cosign >/dev/null; then
    export COSIGN_PASSWORD=''
    (cd "$work" && cosign generate-key-pair >/dev/null 2>&1)
    set -- "$work/published.json" "$work" "$work/cosign.key"
    command -v syft >/dev/null || { echo "rehearse: no syft, so no SBOM"; set -- -n "$@"; }
    images/sign.sh "$@"
fi
