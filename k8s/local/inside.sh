#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What node.sh runs first in the node's new namespaces, and what holds them: as process 1 of its own process namespace its end
# is the end of everything in it. Usage: inside.sh FOLDER
set -eu
folder=$1

# Still the host's /proc: the process id by which the host knows this one.
read -r pid _ </proc/self/stat
mount -t proc proc /proc
# Mounts for pods have to be seen by containerd and kubelet alike; the host sees none of them (unshare saw to that).
mount --make-rshared /
mount -t tmpfs tmpfs /run
mount --bind "$folder/logs/pods" /var/log
mount --bind "$folder/cni-state" /var/lib/cni
mount --bind "$folder/volumes" /tmp/hostpath_pv
mount --bind "$folder/kubelet" /var/lib/kubelet
mount --make-rshared /var/lib/kubelet

# A kubelet sets these for the whole host when it starts: here it sets copies of them.
for setting in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys \
    kernel/keys/root_maxbytes; do
    copy=$folder/sysctl/$(echo "$setting" | tr / .)
    cat "/proc/sys/$setting" >"$copy"
    mount --bind "$copy" "/proc/sys/$setting"
done

hostname node1
ip link set lo up
# An address that pods reach and that is not loopback, which the API server must not advertise. It leads nowhere: the node
# has no network but its own.
ip link add node0 type veth peer name node0-end
ip address add 10.99.0.1/24 dev node0
ip link set node0 up
ip link set node0-end up
ip route add default via 10.99.0.254 dev node0
echo 1 >/proc/sys/net/ipv4/ip_forward
# Without this a pod cannot reach a service that leads to a pod of the same bridge.
echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables

echo "$pid $(cut -d ' ' -f 22 /proc/1/stat)" >"$folder/holder.new"
mv "$folder/holder.new" "$folder/holder"
# Processes that lose their parent become this one's: `wait` takes their end.
sleep infinity &
wait "$!"
