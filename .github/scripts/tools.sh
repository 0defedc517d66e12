#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes sure that a runner has what a job needs; what is there already is left alone.
#
#   tools.sh TOOL...      java: JDK 17 or newer and Maven; engine: docker with the containerd image store, buildx, skopeo, jq;
#                         emulation: of ppc64le and arm64, where the machine is another;
#                         actionlint, cosign, osv-scanner: the version named in the environment variable of that name
#
# The Go tools are compiled from source: Go checks every module against its public checksum log, so that a version
# names exactly one content, and no action of a third party has to be trusted with the job's token.
set -eu

packages() {
    if [ "$(id -u)" = 0 ]; then set -- env DEBIAN_FRONTEND=noninteractive apt-get "$@"; else set -- sudo apt-get "$@"; fi
    "$@"
}

java() {
    major=$(javac -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p')
    [ "${major:-0}" -ge 17 ] && command -v mvn >/dev/null && return
    packages update --quiet
    # Debian 13 has no JDK 17, and the default of Ubuntu 22.04 is an older one.
    [ "${major:-0}" -ge 17 ] || packages install --yes --quiet --no-install-recommends openjdk-17-jdk-headless ||
        packages install --yes --quiet --no-install-recommends default-jdk-headless
    packages install --yes --quiet --no-install-recommends maven
}

# go_tool NAME MODULE VERSION
go_tool() {
    command -v "$1" >/dev/null && return
    CGO_ENABLED=0 go install "$2@${3:?name the version of $1 in the environment}"
    go env GOPATH | sed 's,$,/bin,' >>"${GITHUB_PATH:-/dev/null}"
}

# The image store of containerd: without it docker keeps neither indexes nor the builder's attestations.
engine() {
    if ! { command -v skopeo && command -v jq && command -v curl && docker buildx version; } >/dev/null 2>&1; then
        packages update --quiet
        # What the runner's docker came with stays: Ubuntu's own engine is only for a runner that has none.
        docker buildx version >/dev/null 2>&1 || packages install --yes --quiet docker.io docker-buildx
        packages install --yes --quiet --no-install-recommends skopeo jq curl
    fi
    docker info --format '{{.DriverStatus}}' | grep -q io.containerd.snapshotter && return
    settings=/etc/docker/daemon.json
    { sudo cat "$settings" 2>/dev/null || echo '{}'; } |
        jq '.features["containerd-snapshotter"] = true' >"${RUNNER_TEMP:-/tmp}/daemon.json"
    sudo install -D -m 644 "${RUNNER_TEMP:-/tmp}/daemon.json" "$settings"
    sudo systemctl restart docker
    docker info --format '{{.DriverStatus}}' | grep -q io.containerd.snapshotter
}

# Ubuntu registers the emulator without the flags that setup-engine.sh asks for, and says why there.
emulation() {
    packages update --quiet
    packages install --yes --quiet --no-install-recommends qemu-user-static
    for registered in /proc/sys/fs/binfmt_misc/qemu-ppc64le /proc/sys/fs/binfmt_misc/qemu-aarch64; do
        [ ! -e "$registered" ] || echo -1 | sudo tee "$registered" >/dev/null
    done
    sudo images/local/setup-engine.sh emulate
}

for tool in "$@"; do
    case $tool in
    java) java ;;
    engine) engine ;;
    emulation) emulation ;;
    actionlint) go_tool actionlint github.com/rhysd/actionlint/cmd/actionlint "${ACTIONLINT:-}" ;;
    cosign) go_tool cosign github.com/sigstore/cosign/v2/cmd/cosign "${COSIGN:-}" ;;
    osv-scanner) go_tool osv-scanner github.com/google/osv-scanner/v2/cmd/osv-scanner "${OSV_SCANNER:-}" ;;
    *) echo "tools.sh: unknown tool $tool" >&2 && exit 2 ;;
    esac
done
