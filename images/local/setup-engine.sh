#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A container engine, a registry on loopback and emulation of ppc64le and arm64 on a Debian machine (bookworm or later) that has none.
# Packages come from wherever this machine's own apt takes them. What runs already is used and left alone.
#
# Usage: setup-engine.sh [-d FOLDER] [-p PORT] start|stop|status|emulate     (as root, but for status)
#   -d  folder for state and logs (default .steelyard/engine in the checkout)
#   -p  port of the registry on 127.0.0.1 (default 5000)
#   start   installs what is missing, starts what does not run
#   stop    ends what `start` started, and nothing else; packages stay
#   status  says what there is; exit code 1 unless all of it works
#   emulate registers emulation of ppc64le and arm64 (the package qemu-user-static has to be there), and nothing else
# Exit codes: 0 done; 1 not all is up (status); 2 wrong use; 3 something is missing and cannot be had; 4 something does not start.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=$here/../../.steelyard/engine
port=5000
misc=/proc/sys/fs/binfmt_misc
# Machines that images are made for and that this one is not.
foreign=$(for machine in ppc64le aarch64; do [ "$(uname -m)" = "$machine" ] || echo "$machine"; done)

say() { printf 'engine: %s\n' "$*"; }
fail() { code=$1; shift; printf 'setup-engine: %s\n' "$*" >&2; exit "$code"; }

# ---- packages ----

missing_packages() (
    have() { command -v "$1" >/dev/null 2>&1; }
    have dockerd || echo docker.io
    have docker || echo docker-cli
    docker buildx version >/dev/null 2>&1 || echo docker-buildx
    docker compose version >/dev/null 2>&1 || echo docker-compose
    have iptables || echo iptables
    have docker-registry || echo docker-registry
    have skopeo || echo skopeo
    have curl || echo curl
    have jq || echo jq
    for machine in $foreign; do [ -e "/usr/lib/binfmt.d/qemu-$machine.conf" ] || echo qemu-user-static; done | sort -u
)

# Bookworm's own engine is too old (no build contexts, no containerd image store): then trixie's packages are added at a
# priority at which nothing but these is taken from there.
pin_newer_release() (
    version=$(apt-cache policy docker.io | sed -n 's/^ *Candidate: *\([0-9]*\)\..*/\1/p')
    [ "${version:-0}" -lt 25 ] || exit 0
    # shellcheck source=/dev/null
    suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    # shellcheck disable=SC2016
    mirror=$(apt-get indextargets --format '$(ORIGIN)|$(CODENAME)|$(REPO_URI)' 'Created-By: Packages' |
        awk -F '|' -v suite="$suite" '$1 == "Debian" && $2 == suite {print $3; exit}')
    [ -n "$mirror" ] || fail 3 "apt knows no mirror of Debian $suite here: run apt-get update, or install Docker 25 or newer yourself"
    keyring=$(sed -n 's/^Signed-By: *\(\/[^ ]*\).*/\1/p; s/^deb .*signed-by=\([^] ]*\).*/\1/p' /etc/apt/sources.list \
        /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null | grep -m 1 debian || true)
    {
        printf '# Added by images/local/setup-engine.sh of Steelyard.\nTypes: deb\nURIs: %s\nSuites: trixie\nComponents: main\n' "$mirror"
        [ -z "$keyring" ] || printf 'Signed-By: %s\n' "$keyring"
    } >/etc/apt/sources.list.d/steelyard-trixie.sources
    printf '%s\n' 'Package: *' 'Pin: release n=trixie' 'Pin-Priority: 100' '' \
        'Package: docker.io docker-cli docker-buildx docker-compose cosign' 'Pin: release n=trixie' 'Pin-Priority: 990' \
        >/etc/apt/preferences.d/steelyard-trixie
    apt-get -qq update || fail 3 "apt could not read the lists of Debian trixie from this machine's mirror; install Docker 25 or newer yourself"
)

install_packages() (
    packages=$(missing_packages)
    [ -n "$packages" ] || exit 0
    command -v apt-get >/dev/null || fail 3 "these are missing and this is no Debian machine: $(echo "$packages" | tr '\n' ' ')"
    say "installing $(echo "$packages" | tr '\n' ' ')"
    apt-get -qq update || say "apt could not refresh every list; going on with those it has"
    pin_newer_release
    # shellcheck disable=SC2086
    plan=$(apt-get install -s --no-install-recommends $packages 2>&1) ||
        fail 3 "apt cannot install $(echo "$packages" | tr '\n' ' ')on this machine: $(echo "$plan" | grep -m 1 '^E:')"
    ! echo "$plan" | grep -q '^Inst libc6 \[' ||
        fail 3 "installing the engine would replace this machine's C library; install Docker 25 or newer yourself"
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >"$folder/apt.log" 2>&1 ||
        fail 3 "apt could not install everything; see $folder/apt.log"
)

# Signing is wanted for releases only, so what signs may be missing; its package brings nothing with it.
install_cosign() (
    ! command -v cosign >/dev/null 2>&1 || exit 0
    plan=$(apt-get install -s --no-install-recommends cosign 2>/dev/null | sed -n 's/^Inst \([^ ]*\).*/\1/p')
    if [ "$plan" != cosign ] || ! DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends cosign >>"$folder/apt.log" 2>&1; then
        say "cosign cannot be had here: images cannot be signed"
    fi
)

# ---- what runs ----

start_child() { # NAME COMMAND... ; leaves its process id and start time, so that stop never ends another process
    name=$1
    shift
    setsid nohup "$@" >"$folder/$name.log" 2>&1 </dev/null &
    echo "$! $(cut -d ' ' -f 22 "/proc/$!/stat")" >"$folder/$name.pid"
}

child() ( # NAME -> its process id while it runs; one that has ended and that nobody has waited for yet runs no more
    read -r pid started <"$folder/$1.pid" 2>/dev/null || exit 1
    now=$(cut -d ' ' -f 3,22 "/proc/$pid/stat" 2>/dev/null)
    [ "${now#* }" = "$started" ] || exit 1
    [ "${now%% *}" != Z ] || exit 1
    echo "$pid"
)

stop_child() ( # NAME
    [ -e "$folder/$1.pid" ] || exit 0
    if pid=$(child "$1"); then
        kill "$pid"
        tries=0
        while child "$1" >/dev/null; do
            tries=$((tries + 1))
            [ "$tries" -lt 300 ] || fail 4 "$1 (process $pid) does not end; see $folder/$1.log"
            sleep 0.1
        done
        say "$1 stopped"
    fi
    rm -f "$folder/$1.pid"
)

await() { # SECONDS COMMAND...
    tries=$(($1 * 5))
    shift
    until "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.2
    done
}

engine_answers() { docker version; }

start_engine() {
    if engine_answers >/dev/null 2>&1; then
        say "the engine that runs already is used"
    else
        printf '{"features": {"containerd-snapshotter": true}}\n' >"$folder/daemon.json"
        start_child dockerd dockerd --config-file "$folder/daemon.json"
        await 60 engine_answers || fail 4 "dockerd does not answer; see $folder/dockerd.log"
        say "dockerd started"
    fi
    docker info --format '{{.DriverStatus}}' | grep -q containerd.snapshotter ||
        fail 3 "the engine keeps images in its old store, which holds one platform each: set features.containerd-snapshotter in its daemon.json"
}

registry_answers() { # 200 = open to all; a registry that wants a password is no use
    [ "$(curl -s --noproxy '*' -o /dev/null -m 3 -w '%{http_code}' "http://127.0.0.1:$port/v2/")" = 200 ]
}

start_registry() {
    if registry_answers; then
        say "the registry that runs already on 127.0.0.1:$port is used"
        return
    fi
    # An own configuration: that of the package asks for a password.
    mkdir -p "$folder/registry"
    cat >"$folder/registry.yml" <<CONFIGURATION
version: 0.1
log: {level: warn}
storage: {filesystem: {rootdirectory: $folder/registry}, delete: {enabled: true}}
http: {addr: "127.0.0.1:$port"}
CONFIGURATION
    start_child registry docker-registry serve "$folder/registry.yml"
    if ! await 15 registry_answers; then
        stop_child registry
        fail 4 "no registry at 127.0.0.1:$port: the port may be taken by another program (choose one with -p); see $folder/registry.log"
    fi
    say "registry started on 127.0.0.1:$port"
}

# O, P and F: the emulator is opened once and works in containers, and programs keep their own name as first argument (without
# it a JVM loses options that Liberty gives it).
emulation_works() { # MACHINE
    for flag in O P F; do grep -qx "flags: .*$flag.*" "$misc/qemu-$1" || return 1; done
}

start_emulation() {
    if [ ! -e "$misc/register" ]; then
        mount -t binfmt_misc binfmt_misc "$misc" || fail 3 "the kernel's binfmt_misc cannot be mounted: images of other machines cannot be run here"
        [ ! -d "$folder" ] || : >"$folder/mounted"
    fi
    for machine in $foreign; do
        if [ ! -e "$misc/qemu-$machine" ]; then
            line=$(sed 's/[^:]*$/OPF/' "/usr/lib/binfmt.d/qemu-$machine.conf")
            # Not by a shell's printf, which would turn the \x of the line into bytes.
            printf '%s' "$line" | tee "$misc/register" >/dev/null || fail 3 "the kernel refuses the emulator for $machine"
            [ ! -d "$folder" ] || echo "$machine" >>"$folder/registered"
            say "emulation of $machine registered"
        fi
        emulation_works "$machine" || fail 3 "emulation of $machine is registered here without the flags OPF: echo -1 > $misc/qemu-$machine, then start again"
    done
}

start() {
    [ "$(id -u)" = 0 ] || fail 3 "run it as root: it installs packages and starts dockerd"
    # `.steelyard` of a fresh checkout is its owner's, who builds into it.
    parent=$(dirname "$folder")
    [ -d "$parent" ] || { mkdir -p "$parent" && chown --reference="$(dirname "$parent")" "$parent"; }
    mkdir -p "$folder"
    folder=$(cd "$folder" && pwd)
    install_packages
    install_cosign
    start_engine
    start_emulation
    start_registry
}

# Makes no folder: workflows call it as root in a checkout that is not root's.
emulate() { start_emulation; }

stop() {
    [ -d "$folder" ] || return 0
    folder=$(cd "$folder" && pwd)
    stop_child registry
    stop_child dockerd
    if [ -e "$folder/registered" ]; then
        while read -r machine; do echo -1 >"$misc/qemu-$machine" && say "emulation of $machine removed"; done <"$folder/registered"
        rm "$folder/registered"
    fi
    [ ! -e "$folder/mounted" ] || { umount "$misc"; rm "$folder/mounted"; }
}

status() {
    up=0
    absent=$(missing_packages | tr '\n' ' ')
    [ -z "$absent" ] || { say "missing packages: $absent"; up=1; }
    if engine_answers >/dev/null 2>&1; then
        say "engine $(docker version --format '{{.Server.Version}}'), compose $(docker compose version --short 2>/dev/null || echo missing)"
    else
        say "no engine answers"
        up=1
    fi
    if registry_answers; then say "registry on 127.0.0.1:$port"; else say "no open registry on 127.0.0.1:$port"; up=1; fi
    for machine in $foreign; do
        if emulation_works "$machine" 2>/dev/null; then say "emulation of $machine"; else say "no emulation of $machine"; up=1; fi
    done
    command -v cosign >/dev/null 2>&1 || say "no cosign: images cannot be signed"
    return "$up"
}

while getopts d:p:h option; do
    case $option in
        d) folder=$OPTARG ;;
        p) port=$OPTARG ;;
        h) sed -n '3,13s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) fail 2 "see setup-engine.sh -h" ;;
    esac
done
shift $((OPTIND - 1))
case $port in '' | *[!0-9]*) fail 2 "the port is a number" ;; esac
case ${1:-} in start | stop | status | emulate) "$1" ;; *) fail 2 "say what to do: start, stop, status or emulate" ;; esac
