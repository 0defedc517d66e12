#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Collects what the harness image is made of beside its base and this checkout, so that building the image needs no network:
#   FOLDER/ARCH/site     the Python packages of scripts/requirements.lock, every file checked against its hash
#   FOLDER/ARCH/system   shared libraries that the packages need beside the base (empty where wheels bring their own)
#   FOLDER/ARCH/docker   the client `docker` and its plugin `docker-compose`
#
# Usage: inputs.sh [-a ARCH] [-w FOLDER] [-c FOLDER] [-i]
#   -a  amd64, ppc64le or arm64 (default: this machine's)
#   -w  where to put it (default .steelyard/harness in the checkout)
#   -c  folder that holds the programs `docker` and `docker-compose` for ARCH
#       (default, for this machine's own architecture: those that are installed here; for ppc64le elsewhere: Debian trixie's)
#   -i  go on where apt cannot verify a package list of ppc64le (also when make-bases.sh had to go on so)
#
# Wheels are taken where there are any. ppc64le has none of numpy, scipy, matplotlib, pillow, psutil, PyYAML, ruptures and
# hdrhistogram. On a ppc64le machine pip compiles them (C, C++ and Fortran compilers, OpenBLAS and libjpeg with their headers;
# the base has the libraries). On Debian bookworm of another architecture cross.sh compiles the small ones and takes the large
# ones as Debian packages them, IN OTHER VERSIONS than the lock file's (docs/containers.md).
# Exit codes: 0 done; 2 wrong use; 3 something is missing.
# shellcheck disable=SC2031,SC2034 # what cross.sh reads, and names that functions in subshells have for themselves
set -eu

# The Python of the harness base (images/README.md); wheels are made for exactly one.
python=3.11

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd -P)
folder=$root/.steelyard/harness
client=
incomplete=no
lock=$root/scripts/requirements.lock

say() { printf 'inputs: %s\n' "$*" >&2; }
fail() { code=$1; shift; printf 'inputs: %s\n' "$*" >&2; exit "$code"; }

case $(uname -m) in
    x86_64) native=amd64 ;;
    aarch64) native=arm64 ;;
    *) native=$(uname -m) ;;
esac
arch=$native
while getopts a:w:c:ih option; do
    case $option in
        a) arch=$OPTARG ;;
        w) folder=$OPTARG ;;
        c) client=$OPTARG ;;
        i) incomplete=yes ;;
        h) sed -n '3,22s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) fail 2 "see inputs.sh -h" ;;
    esac
done
case $arch in
    amd64) machine=x86_64 ;;
    arm64) machine=aarch64 ;;
    ppc64le) machine=ppc64le ;;
    *) fail 2 "architecture $arch is not known: amd64, arm64, ppc64le" ;;
esac

for candidate in ${STEELYARD_PYTHON:-} "python$python" python3; do
    if "$candidate" -c "import pip, sys; sys.exit('%d.%d' % sys.version_info[:2] != '$python')" 2>/dev/null; then
        interpreter=$candidate
        break
    fi
done
[ -n "${interpreter:-}" ] ||
    fail 3 "Python $python with pip is needed, the version of the harness base: install it or set STEELYARD_PYTHON"

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
target=$folder/$arch
mkdir -p "$target"
key=$(cat "$lock" "$root/images/harness/inputs.sh" "$root/images/harness/cross.sh" "$root/images/harness/build.lock" |
    sha256sum | cut -c1-32)-$python
[ ! -s "$root/.steelyard/bases/apt/ppc64el/left-out" ] || incomplete=yes
# shellcheck source=images/harness/cross.sh
. "$root/images/harness/cross.sh"

install_packages() { # FOLDER PIP-OPTIONS...
    into=$1
    shift
    "$interpreter" -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --target "$into" "$@" ||
        fail 3 "not every Python package can be had for $arch here: run this on a machine of that architecture, or check pip's configuration"
}

packages() {
    if [ "$(cat "$target/site.key" 2>/dev/null)" = "$key" ]; then
        return
    fi
    rm -rf "$target/site" "$target/site.key" "$target/site.new" "$target/system" "$target/docker"
    mkdir -p "$target/site.new" "$target/system"
    # From the newest C library of Debian bookworm (2.36) down to the oldest that wheels are named for.
    set --
    for glibc in 36 35 34 31 28 27 26 24 17 12 5; do
        set -- "$@" --platform "manylinux_2_${glibc}_$machine"
    done
    set -- "$@" --platform "manylinux2014_$machine" --platform "manylinux2010_$machine"
    set -- "$@" --only-binary :all: --python-version "$python" --implementation cp --abi cp311 --abi abi3 --abi none
    if [ "$arch" = "$native" ]; then
        # Here pip finds the right wheels by itself, and compiles what has none.
        install_packages "$target/site.new" --require-hashes -r "$lock"
    elif [ "$arch" = ppc64le ]; then
        cross_packages "$target/site.new" "$target/system" "$@"
    else
        install_packages "$target/site.new" --require-hashes "$@" -r "$lock"
    fi
    # Scripts name the interpreter they were installed with, and records the folder; tests and headers are for builders.
    rm -rf "$target/site.new/bin" "$target/site.new/share"
    find "$target/site.new" -type d \( -name tests -o -name __pycache__ \) -prune -exec rm -rf {} +
    find "$target/site.new" -type f \( -name direct_url.json -o -name '*.a' -o -name '*.pyx' -o -name '*.pxd' \) -delete
    # The image is read-only, so what Python would cache at first use has to be there. Names of the image, hashes for times.
    "$interpreter" -m compileall -q -j 0 --invalidation-mode unchecked-hash -s "$target/site.new" -p /opt/steelyard/site \
        "$target/site.new" >/dev/null || fail 3 "Python could not compile the packages in $target/site.new"
    chmod -R u=rwX,go=rX "$target/site.new"
    mv "$target/site.new" "$target/site"
    printf '%s\n' "$key" >"$target/site.key"
}

# The plugin's place differs between distributions; the client knows it.
installed_plugin() {
    for place in "$HOME/.docker/cli-plugins" /usr/local/lib/docker/cli-plugins /usr/local/libexec/docker/cli-plugins \
        /usr/lib/docker/cli-plugins /usr/libexec/docker/cli-plugins; do
        [ ! -x "$place/docker-compose" ] || { echo "$place/docker-compose"; return; }
    done
}

programs() {
    if [ -n "$client" ]; then
        docker=$client/docker plugin=$client/docker-compose
    elif [ "$arch" = "$native" ]; then
        docker=$(command -v docker || true) plugin=$(installed_plugin)
    elif [ "$arch" = ppc64le ] && [ -x "$target/docker/docker" ] && [ -x "$target/docker/docker-compose" ]; then
        return
    elif [ "$arch" = ppc64le ]; then
        prepare_cross
        cross_clients "$target/docker"
        return
    else
        fail 3 "name a folder with docker and docker-compose for $arch with -c"
    fi
    if ! { [ -x "$docker" ] && [ -x "$plugin" ]; }; then
        fail 3 "docker and its compose plugin were not found${client:+ in $client}: install them, or name a folder with -c"
    fi
    mkdir -p "$target/docker"
    # What is the same keeps its time, so that a builder does not take it again.
    cmp -s "$docker" "$target/docker/docker" || install -m 755 "$docker" "$target/docker/docker"
    cmp -s "$plugin" "$target/docker/docker-compose" || install -m 755 "$plugin" "$target/docker/docker-compose"
}

packages
programs
printf 'inputs: %s: %s MB\n' "$target" "$(du -sm "$target" | cut -f1)"
