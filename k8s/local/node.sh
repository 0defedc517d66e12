#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kubernetes with a single node, for tests, on a Debian machine (bookworm or later) with Go: no registry, no cluster and no
# service of this machine is used or touched. Kubernetes and CoreDNS are compiled from their Go modules, all else is unpacked
# from Debian's packages; both are kept outside of the checkout, by version. Everything runs in namespaces of its own.
#
# Usage: node.sh [-d FOLDER] [-x] COMMAND     (as root)
#   -d  folder for state and logs (default .steelyard/node in the checkout)
#   -x  start: exclusive CPUs for pods that ask for whole ones (the kubelet's static policy; one CPU is kept for all else)
#   build            makes and unpacks what is not there yet: about 10 CPU minutes, once for each version
#   start            starts the node, and waits until it is ready
#   stop             ends the node; leaves its logs and nothing else
#   status           says what there is; exit code 1 unless the node is ready
#   load FILE...     takes images from archives (docker save, skopeo); - is standard input
#   kubectl ARG...   kubectl as the cluster's administrator
#   run COMMAND...   runs a command in the node's network, where pods, services and API server are reached; files and
#                    processes are this machine's; KUBECONFIG and a kubectl are there
# Exit codes: 0 done; 1 not ready (status); 2 wrong use; 3 something is missing and cannot be had; 4 something does not start.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=$here/../../.steelyard/node
exclusive=
kubernetes=$(sed -n 's,.*k8s.io/kubernetes v\([0-9.]*\)$,\1,p' "$here/kube/go.mod" | head -n 1)
sources=$(cd "$here" && cat kube/go.* kube/*.go kube/pause/*.go dns/* | sha256sum | cut -c 1-12)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/steelyard/kubernetes-$kubernetes-$sources-$(uname -m)
packages=$cache/packages
address=10.99.0.1
server=https://$address:6443

say() { printf 'node: %s\n' "$*"; }
fail() { code=$1; shift; printf 'node: %s\n' "$*" >&2; exit "$code"; }

await() { # SECONDS COMMAND...
    tries=$(($1 * 5))
    shift
    until "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.2
    done
}

# ---- programs ----

install_packages() (
    missing=
    for pair in ip=iproute2 iptables=iptables openssl=openssl curl=curl; do
        command -v "${pair%=*}" >/dev/null 2>&1 || missing="$missing ${pair#*=}"
    done
    [ -n "$missing" ] || exit 0
    say "installing$missing"
    apt-get -qq update || say "apt could not refresh every list; going on with those it has"
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null ||
        fail 3 "apt cannot install$missing on this machine"
)

# Unpacked and not installed: a package's service would start, and an engine that this machine has stays as it is.
unpack_packages() (
    [ ! -d "$packages" ] || exit 0
    set -- etcd-server containerd runc containernetworking-plugins
    mkdir -p "$work/packages"
    cd "$work/packages"
    apt-get -q download "$@" 2>/dev/null || { apt-get -q update && apt-get -q download "$@"; } ||
        fail 3 "apt cannot download $*"
    for archive in *.deb; do dpkg -x "$archive" .; done
    rm -- *.deb
    mv "$work/packages" "$packages"
)

compile() ( # MODULE PACKAGE NAME [LINKER OPTION...]
    [ ! -x "$cache/bin/$3" ] || exit 0
    command -v go >/dev/null 2>&1 || fail 3 "Go is needed (1.24 or newer) to compile Kubernetes, and is not here"
    say "compiling $3 (kept in $cache)"
    cd "$here/$1"
    output=$work/$3
    name=$3
    package=$2
    shift 3
    CGO_ENABLED=0 GOTOOLCHAIN=local GOWORK=off go build -trimpath -buildvcs=false -ldflags "-s -w $*" -o "$output" "$package" ||
        fail 3 "Go cannot compile $name here"
    mv "$output" "$cache/bin/$name"
)

build() {
    command -v apt-get >/dev/null 2>&1 || fail 3 "this is no Debian machine: there is nothing to unpack etcd and containerd from"
    install_packages
    mkdir -p "$cache/bin"
    work=$(mktemp -d "$cache/work-XXXXXX")
    trap 'rm -rf "$work"' EXIT
    unpack_packages
    compile kube ./pause pause
    version=k8s.io/component-base/version
    minor=${kubernetes#*.}
    compile kube . kubernetes "-X $version.gitVersion=v$kubernetes" "-X $version.gitMajor=${kubernetes%%.*}" \
        "-X $version.gitMinor=${minor%%.*}" "-X $version.gitTreeState=clean"
    compile dns . coredns
    for name in kubectl kubelet kube-apiserver kube-controller-manager kube-scheduler kube-proxy; do
        ln -sf kubernetes "$cache/bin/$name"
    done
    rm -rf "$work"
    trap - EXIT
}

# ---- the node's processes ----

holder() ( # -> the process id of what holds the namespaces, while it runs
    [ -e "$folder/holder" ] && read -r pid started <"$folder/holder" || exit 1
    now=$(cut -d ' ' -f 3,22 "/proc/$pid/stat" 2>/dev/null) || exit 1
    [ "${now#* }" = "$started" ] || exit 1
    [ "${now%% *}" != Z ] || exit 1
    echo "$pid"
)

inside() { # COMMAND... in all of the node's namespaces
    pid=$(holder) || fail 4 "no node runs here: node.sh start"
    nsenter --target "$pid" --mount --net --pid --uts --ipc -- \
        env PATH="$cache/bin:$packages/usr/bin:$packages/usr/sbin:$PATH" "$@"
}

start_inside() { # NAME COMMAND... ; nothing of it keeps hold of this script's own output, which may be a pipe
    name=$1
    shift
    (exec >"$folder/logs/$name.log" 2>&1 </dev/null && inside setsid "$@") &
}

run() { # COMMAND... in its network alone
    pid=$(holder) || fail 4 "no node runs here: node.sh start"
    exec nsenter --target "$pid" --net -- env PATH="$cache/bin:$PATH" KUBECONFIG="$folder/kubeconfig" "$@"
}

kubectl() (run kubectl "$@")

# ---- who is who ----

certificate() { # NAME SUBJECT ALTERNATIVE-NAMES
    printf 'basicConstraints = CA:FALSE\n%s\n' "${3:+subjectAltName = $3}" >"$folder/$1.ext"
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "$2" -keyout "$folder/$1.key" -out "$folder/$1.csr"
    openssl x509 -req -in "$folder/$1.csr" -CA "$folder/ca.crt" -CAkey "$folder/ca.key" -CAcreateserial -days 30 \
        -extfile "$folder/$1.ext" -out "$folder/$1.crt"
}

client() { # NAME USER [GROUP]: a token, and a file with which its owner reaches the API server
    token=$(openssl rand -hex 16)
    printf '%s,%s,%s%s\n' "$token" "$2" "$1" "${3:+,\"$3\"}" >>"$folder/tokens.csv"
    cat >"$folder/$1" <<CONFIGURATION
apiVersion: v1
kind: Config
clusters: [{name: local, cluster: {server: "$server", certificate-authority: "$folder/ca.crt"}}]
users: [{name: local, user: {token: "$token"}}]
contexts: [{name: local, context: {cluster: local, user: local}}]
current-context: local
CONFIGURATION
}

identities() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=steelyard-node \
        -keyout "$folder/ca.key" -out "$folder/ca.crt"
    certificate apiserver /CN=kube-apiserver "IP:127.0.0.1,IP:$address,IP:10.96.0.1,DNS:kubernetes,DNS:kubernetes.default,\
DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local"
    certificate kubelet-client /O=system:masters/CN=kube-apiserver ""
    openssl ecparam -genkey -name prime256v1 -noout -out "$folder/accounts.key"
    client kubeconfig admin system:masters
    client controllers.kubeconfig system:kube-controller-manager
    client scheduler.kubeconfig system:kube-scheduler
    client kubelet.kubeconfig system:node:node1 system:nodes
    client proxy.kubeconfig system:kube-proxy
    client dns.kubeconfig coredns
}

# ---- control groups: all pods are below one of our own, on either version of the hierarchy ----

make_groups() {
    if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
        for controller in cpuset cpu io memory pids; do
            echo "+$controller" >/sys/fs/cgroup/cgroup.subtree_control
        done
        mkdir -p "/sys/fs/cgroup/$group"
        return
    fi
    for hierarchy in cpu cpuacct cpuset memory devices freezer blkio pids hugetlb systemd; do
        [ ! -d "/sys/fs/cgroup/$hierarchy" ] || mkdir -p "/sys/fs/cgroup/$hierarchy/$group"
    done
    for file in cpuset.mems cpuset.cpus; do
        cat "/sys/fs/cgroup/cpuset/$file" >"/sys/fs/cgroup/cpuset/$group/$file"
    done
    echo 1 >"/sys/fs/cgroup/memory/$group/memory.use_hierarchy" 2>/dev/null || true
}

remove_groups() { # fails while what ran in one has not ended altogether
    for top in /sys/fs/cgroup/"$group" /sys/fs/cgroup/*/"$group"; do
        [ ! -d "$top" ] || find "$top" -depth -type d -exec rmdir {} \; 2>/dev/null || true
        [ ! -d "$top" ] || return 1
    done
}

# ---- commands ----

ours() {
    [ ! -d "$folder" ] || [ -d "$folder/logs/pods" ] || [ -z "$(ls -A "$folder")" ] ||
        fail 2 "$folder holds something else than a node's state"
}

configure() {
    reserved=0 policy=none
    [ -z "$exclusive" ] || reserved=100m policy=static
    no_hugetlb=true
    ! grep -q '^hugetlb' /proc/cgroups || no_hugetlb=false
    mkdir -p "$folder/logs/pods" "$folder/cni" "$folder/cni-state" "$folder/volumes" "$folder/kubelet" "$folder/sysctl"
    : >"$folder/resolv.conf"
    (umask 077 && : >"$folder/tokens.csv")
    for file in "$here"/config/*; do
        target=$folder/$(basename "$file")
        [ "${file##*.}" != conflist ] || target=$folder/cni/10-bridge.conflist
        sed -e "s,@FOLDER@,$folder,g; s,@PACKAGES@,$packages,g; s,@CGROUP@,/$group,g; s,@CPU_POLICY@,$policy,g" \
            -e "s,@RESERVED_CPU@,$reserved,g; s,@NO_HUGETLB@,$no_hugetlb,g" "$file" >"$target"
    done
    identities >"$folder/logs/openssl.log" 2>&1 || fail 4 "openssl makes no certificates; see $folder/logs/openssl.log"
}

start_control_plane() {
    start_inside etcd etcd --data-dir "$folder/etcd" --listen-client-urls http://127.0.0.1:2379 \
        --advertise-client-urls http://127.0.0.1:2379 --listen-peer-urls http://127.0.0.1:2380 --unsafe-no-fsync
    start_inside apiserver kube-apiserver --etcd-servers=http://127.0.0.1:2379 --advertise-address="$address" \
        --service-cluster-ip-range=10.96.0.0/16 --authorization-mode=Node,RBAC --allow-privileged \
        --enable-admission-plugins=NodeRestriction \
        --tls-cert-file="$folder/apiserver.crt" --tls-private-key-file="$folder/apiserver.key" \
        --client-ca-file="$folder/ca.crt" --token-auth-file="$folder/tokens.csv" --profiling=false \
        --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$folder/accounts.key" \
        --service-account-signing-key-file="$folder/accounts.key" --kubelet-preferred-address-types=InternalIP \
        --kubelet-client-certificate="$folder/kubelet-client.crt" --kubelet-client-key="$folder/kubelet-client.key"
    await 120 ready_of apiserver "$server/readyz" || fail 4 "the API server does not get ready; see $folder/logs/apiserver.log"
    # Nodes that a test makes for the scheduler alone have no kubelet that says that they live: by default they would be out
    # of use after a minute, and what has no place by then would never get one.
    start_inside controllers kube-controller-manager --kubeconfig="$folder/controllers.kubeconfig" --leader-elect=false \
        --use-service-account-credentials=true --service-account-private-key-file="$folder/accounts.key" \
        --root-ca-file="$folder/ca.crt" --allocate-node-cidrs=true --cluster-cidr=10.244.0.0/16 \
        --enable-hostpath-provisioner=true --bind-address=127.0.0.1 --node-monitor-grace-period=1h
    start_inside scheduler kube-scheduler --kubeconfig="$folder/scheduler.kubeconfig" --leader-elect=false \
        --bind-address=127.0.0.1
}

ready_of() { # NAME URL
    inside curl --silent --fail --max-time 3 --cacert "$folder/ca.crt" "$2"
}

start_pods() {
    start_inside kubelet kubelet --config="$folder/kubelet.yaml" --kubeconfig="$folder/kubelet.kubeconfig" \
        --hostname-override=node1 --node-ip="$address" --root-dir=/var/lib/kubelet --cert-dir=/var/lib/kubelet/pki
    start_inside proxy kube-proxy --config="$folder/proxy.yaml"
    start_inside coredns coredns -conf "$folder/Corefile"
    kubectl apply -f "$folder/objects.yaml" >/dev/null
    await 60 node_ready || fail 4 "the node does not get ready; see $folder/logs/kubelet.log"
    await 30 ready_of coredns http://127.0.0.1:8181/ready || fail 4 "names are not served; see $folder/logs/coredns.log"
}

node_ready() { kubectl get node node1 -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}' | grep -q True; }

pause_image() ( # a docker archive of one layer, on standard output
    work=$(mktemp -d "$folder/pause-XXXXXX")
    trap 'rm -rf "$work"' EXIT
    tar -C "$cache/bin" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf "$work/layer.tar" pause
    layer=$(sha256sum "$work/layer.tar" | cut -d ' ' -f 1)
    architecture=$(dpkg --print-architecture | sed 's/ppc64el/ppc64le/')
    printf '{"architecture":"%s","os":"linux","config":{"Entrypoint":["/pause"],"User":"65535:65535"},"rootfs":{"type":"layers",
"diff_ids":["sha256:%s"]}}' "$architecture" "$layer" >"$work/config.json"
    printf '[{"Config":"config.json","RepoTags":["localhost/pause:1"],"Layers":["layer.tar"]}]' >"$work/manifest.json"
    tar -C "$work" -cf - manifest.json config.json layer.tar
)

load() {
    for archive; do
        if [ "$archive" = - ]; then cat; else cat "$archive"; fi |
            inside ctr --namespace k8s.io images import - || fail 4 "containerd cannot take $archive"
    done
}

start() {
    [ "$(id -u)" = 0 ] || fail 3 "run it as root: it makes namespaces and control groups"
    ! holder >/dev/null || fail 4 "a node runs here already: node.sh -d $folder stop"
    ours
    build
    rm -rf "$folder"
    configure
    make_groups
    mkdir -p /var/lib/kubelet /var/lib/cni /tmp/hostpath_pv
    setsid unshare --mount --net --pid --uts --ipc --fork "$here/inside.sh" "$folder" >"$folder/logs/inside.log" 2>&1 </dev/null &
    await 20 holder || fail 4 "the namespaces cannot be made; see $folder/logs/inside.log"
    start_inside containerd containerd --config "$folder/containerd.toml"
    start_control_plane
    await 30 inside ctr version || fail 4 "containerd does not answer; see $folder/logs/containerd.log"
    pause_image | load - >/dev/null
    start_pods
    say "Kubernetes $kubernetes is ready: $0 -d $folder kubectl get nodes"
}

stop() {
    [ -d "$folder" ] || return 0
    ours
    if pid=$(holder); then
        kill -9 "$pid"    # as process 1 of its namespace it takes everything in it along
        while holder >/dev/null; do sleep 0.1; done
    fi
    await 20 remove_groups || fail 4 "control groups of $group cannot be removed: something runs in them"
    # Mounts in the node's namespace are gone with it; these are empty unless they are another's.
    rmdir /var/lib/kubelet /var/lib/cni /tmp/hostpath_pv 2>/dev/null || true
    find "$folder" -mindepth 1 -maxdepth 1 ! -name logs -exec rm -rf {} +
    say "stopped"
}

status() {
    if ! holder >/dev/null; then say "none runs here"; return 1; fi
    kubectl get nodes -o wide
    node_ready
}

while getopts d:xh option; do
    case $option in
        d) folder=$OPTARG ;;
        x) exclusive=yes ;;
        h) sed -n '3,20s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) fail 2 "see node.sh -h" ;;
    esac
done
shift $((OPTIND - 1))
folder=$(realpath -m "$folder")
group=steelyard-node-$(printf %s "$folder" | cksum | cut -d ' ' -f 1)
command=${1:-}
[ $# -eq 0 ] || shift
case $command in
    build | start | stop | status) "$command" ;;
    load | kubectl | run) [ $# -gt 0 ] || fail 2 "$command what?"; "$command" "$@" ;;
    *) fail 2 "say what to do: build, start, stop, status, load, kubectl or run" ;;
esac
