# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2030,SC2031,SC2034,SC2154
# Functions of make-bases.sh: packages of every architecture through this machine's apt. Reads $work, $suite, $native, $incomplete, $jdk.

debian_name() (
    case $1 in
        linux/amd64) echo amd64 ;;
        linux/ppc64le) echo ppc64el ;;
        linux/arm64) echo arm64 ;;
        *) fail 2 "platform $1 is not known: linux/amd64, linux/ppc64le, linux/arm64" ;;
    esac
)
oci_name() { case $1 in ppc64el) echo ppc64le ;; *) echo "$1" ;; esac; }

check_machine() {
    [ "$(id -u)" = 0 ] || fail 3 "run it as root: file owners in the images are set by chroot and tar"
    for tool in apt-get dpkg-deb tar sha256sum chroot unshare; do
        command -v "$tool" >/dev/null || fail 3 "$tool is not installed; this script needs a Debian machine"
    done
    [ "$push" = no ] || docker buildx version >/dev/null 2>&1 ||
        fail 3 "docker buildx is not installed; run images/local/setup-engine.sh first"
    # shellcheck source=/dev/null
    suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    native=$(dpkg --print-architecture)
    case $suite in
        bookworm) java=17 ;;
        trixie) java=21 ;;
        *) fail 3 "the release ${suite:-of this machine} is not supported: use Debian bookworm or trixie" ;;
    esac
}

# Debian has no OpenJ9.
check_jdk() {
    [ -n "$jdk" ] || fail 2 "the base openj9 is made of a JDK that Debian has not: give its folder with -j"
    "$jdk/bin/java" -version 2>&1 | grep -q OpenJ9 || fail 3 "$jdk holds no Eclipse OpenJ9 that runs here: give the folder of its JDK with -j"
}

# apt with folders of its own, for another architecture; sources and proxies are those of this machine.
private_apt() ( # ARCHITECTURE COMMAND...
    architecture=$1
    shift
    folder=$work/apt/$suite-$architecture
    apt-get -qq -o Dir::State="$folder/state" -o Dir::State::status="$folder/status" -o Dir::Cache="$folder/cache" \
        -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null -o APT::Sandbox::User=root \
        -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" -o Acquire::Languages=none \
        -o APT::Install-Recommends=false -o Debug::NoLocking=true -o APT::Get::List-Cleanup=true "$@"
)

# Package lists of an architecture, read at most once a run.
prepare_apt() ( # ARCHITECTURE
    folder=$work/apt/$suite-$1
    [ ! -e "$folder/fresh.$$" ] || exit 0
    mkdir -p "$folder/state/lists/partial" "$folder/cache/archives/partial"
    : >"$folder/status"
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    signed=
    [ ! -r "$keyring" ] || signed=" signed-by=$keyring"
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(ORIGIN)|$(CODENAME)|$(REPO_URI)|$(COMPONENT)' 'Created-By: Packages' |
        sort -u | awk -F '|' -v suite="$suite" -v options="[arch=$1$signed]" \
        '$1 == "Debian" && ($2 == suite || index($2, suite "-") == 1) && $4 == "main" \
         {print "deb " options " " $3 " " $2 " " $4}' >"$folder/sources.list"
    [ -s "$folder/sources.list" ] ||
        fail 3 "apt knows no package list of Debian $suite here: run apt-get update, for trixie on bookworm images/local/setup-engine.sh start"
    rm -f "$folder"/fresh.* "$folder/left-out"
    if ! private_apt "$1" update >"$folder/update.log" 2>&1; then
        cat "$folder/update.log" >&2
        [ "$incomplete" = yes ] ||
            fail 3 "apt could not verify every package list for $1; try again later, or give -i to make $1 without those lists"
        # What apt could not verify it does not use, or in place of it what an earlier run has; a list that is missing then is
        # in a label of the bases.
        awk '{print $(NF - 1)}' "$folder/sources.list" | while read -r release; do
            [ -n "$(find "$folder/state/lists" -maxdepth 1 -name "*_dists_${release}_main_binary-$1_Packages*")" ] || echo "$1:$release"
        done >"$folder/left-out"
        [ ! -s "$folder/left-out" ] ||
            say "WITHOUT $(tr '\n' ' ' <"$folder/left-out")- older versions, security updates may be missing"
        # This machine's own packages take part in the roots of every architecture.
        [ "$1" != "$native" ] || [ -z "$(why_without "$1")" ] || fail 3 "$(why_without "$1"), the architecture of this machine"
    fi
    : >"$folder/fresh.$$"
)

# Why nothing can be made for an architecture although -i was given: the release's own list was left out, and those of its
# updates alone hold no complete system. Prints nothing where bases can be made.
why_without() ( # ARCHITECTURE
    ! grep -qx "$1:$suite" "$work/apt/$suite-$1/left-out" 2>/dev/null || echo "apt could not verify $suite's list for $1"
)

# Dependencies that only maintainer scripts and services need, of which none runs in a container.
maintenance='adduser|debconf|dpkg|init-system-helpers|lib(acl1|audit-common|audit1|cap-ng0|gdbm-compat4|gdbm6|md0|sepol2)'
maintenance=$maintenance'|lib(pam|semanage).*|lib.*-perl|libperl.*|perl.*|lsb-base|passwd|sysvinit-utils|tar|usrmerge'
# Those of them that a base's own program is linked with.
linked=none

# Names and versions of packages and of all they depend on, one a line, in installation order.
resolve() ( # ARCHITECTURE PACKAGE...
    architecture=$1
    shift
    private_apt "$architecture" install -s "$@" |
        awk -v unused="^($maintenance)\$" -v linked="^($linked)\$" '$1 == "Inst" && ($2 !~ unused || $2 ~ linked) {print $2 "=" substr($3, 2)}'
)

fetch() ( # ARCHITECTURE NAME=VERSION... ; leaves the files in cache/archives
    architecture=$1
    shift
    missing=
    for package in "$@"; do
        [ -e "$(archive "$architecture" "$package")" ] || missing="$missing $package"
    done
    [ -z "$missing" ] || (
        cd "$work/apt/$suite-$architecture/cache/archives"
        # shellcheck disable=SC2086
        private_apt "$architecture" download $missing
    ) || fail 3 "apt could not download$missing for $architecture"
)

archive() ( # ARCHITECTURE NAME=VERSION -> path (apt writes the colon of an epoch as %3a)
    file=${2%%=*}_$(printf '%s' "${2#*=}" | sed 's/:/%3a/g')
    for path in "$work/apt/$suite-$1/cache/archives/${file}_$1.deb" "$work/apt/$suite-$1/cache/archives/${file}_all.deb"; do
        [ ! -e "$path" ] || { echo "$path"; exit; }
    done
    echo "$path"
)
