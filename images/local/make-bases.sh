#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes Debian-based base images from packages alone, for a lab where no image registry can be reached, and pushes them
# to a local registry as one index for each base. Packages come from wherever this machine's own apt takes them; nothing
# of another architecture is executed. `images/README.md` says what is in each base and why.
#
# Usage: make-bases.sh [-r REGISTRY] [-w FOLDER] [-p PLATFORM,...] [-j JDK] [-n] [-i] [BASE...]
#   -r  registry and path to push to (default 127.0.0.1:5000/bases)
#   -w  working folder: downloaded packages, unpacked roots (default .steelyard/bases in the checkout)
#   -p  platforms (default linux/amd64,linux/ppc64le,linux/arm64)
#   -j  folder of an Eclipse OpenJ9 for this machine's architecture: the base openj9 is made of it, for that one alone; with
#       this machine's CRIU in it, if that works here (`criu check`)
#   -n  make the roots, push nothing
#   -i  go on where apt cannot verify a package list of an architecture (a mirror being updated): without that list, thus
#       perhaps without security updates, recorded in the label dev.steelyard.base.left-out; without the release's own list,
#       or where the mirror has not all packages that it names, a base is made without that platform, noted with the reason
#       in FOLDER/roots/BASE.without, but never without this machine's; for tests, not for publishing
#   BASE: hotspot, tools, harness, proxy, nginx (default: these), openj9 (with -j by default), maven (for `docker compose up --build`),
#         postgresql (of Debian 13, what STEELYARD_POSTGRESQL_IMAGE can name; for this machine's architecture)
# Exit codes: 0 done; 2 wrong use; 3 something is missing on this machine; 4 a step failed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
registry=127.0.0.1:5000/bases
work=$here/../../.steelyard/bases
platforms=linux/amd64,linux/ppc64le,linux/arm64
push=yes
incomplete=no
jdk=

say() { printf 'bases: %s\n' "$*"; }
fail() { code=$1; shift; printf 'make-bases: %s\n' "$*" >&2; exit "$code"; }

while getopts r:w:p:j:nih option; do
    case $option in
        r) registry=$OPTARG ;;
        w) work=$OPTARG ;;
        p) platforms=$OPTARG ;;
        j) jdk=$OPTARG ;;
        n) push=no ;;
        i) incomplete=yes ;;
        h) sed -n '3,21s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) fail 2 "see make-bases.sh -h" ;;
    esac
done
shift $((OPTIND - 1))
bases=${*:-tools hotspot proxy nginx harness${jdk:+ openj9}}

mkdir -p "$work"
work=$(cd "$work" && pwd)
# shellcheck source=images/local/base-packages.sh
. "$here/base-packages.sh"
# shellcheck source=images/local/base-roots.sh
. "$here/base-roots.sh"

check_machine
for base in $bases; do
    case $base in hotspot | tools | harness | proxy | nginx | maven | postgresql) ;; openj9) check_jdk ;; *) fail 2 "there is no base named $base: hotspot, tools, harness, proxy, nginx, openj9, maven, postgresql" ;; esac
done

for base in $bases; do
    make_base "$base"
done
