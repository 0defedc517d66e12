#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Collects the Python packages and clients of the harness image for this machine's own architecture, inside the base that the
# image is built on: what has to be compiled is then compiled with that base's Python and C library. Run at the root of the
# checkout.
#
#   harness-inputs.sh ARCH
set -eu

arch=${1:?usage: harness-inputs.sh ARCH}
base=$(jq --exit-status --raw-output '.harness | select(.index) | .reference + "@" + .index' images/lock.json) || {
    echo "harness-inputs: images/lock.json has no digest of the base harness: run ./steelyard images lock." >&2
    exit 1
}
clients=.steelyard/clients/$arch
mkdir -p "$clients"
cp "$(command -v docker)" "$clients/docker"
for place in "$HOME/.docker/cli-plugins" /usr/local/lib/docker/cli-plugins /usr/libexec/docker/cli-plugins \
    /usr/lib/docker/cli-plugins; do
    [ ! -x "$place/docker-compose" ] || { cp "$place/docker-compose" "$clients/docker-compose" && break; }
done
docker run --rm --user 0:0 --volume "$PWD:/checkout" --workdir /checkout --env "OWNER=$(id -u):$(id -g)" \
    --env "ARCH=$arch" --entrypoint /bin/sh "$base" -euc '
        # Wheels are there for the others.
        if [ "$ARCH" = ppc64le ]; then
            apt-get update --quiet
            DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends \
                g++ gfortran make pkg-config libopenblas-dev libjpeg62-turbo-dev zlib1g-dev libfreetype-dev libyaml-dev
        fi
        images/harness/inputs.sh -a "$ARCH" -c ".steelyard/clients/$ARCH"
        chown -R "$OWNER" .steelyard/harness'
