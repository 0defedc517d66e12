# SPDX-License-Identifier: Apache-2.0
"""Which way requests go from injectors to servers, by the network namespaces of both and what leads into them."""

from collections.abc import Iterable

from steelyard.host.system import System

PODS = "pods"
"""Stands for the network of a cluster, which this host does not see."""
_FORWARDERS = {"pasta": "pasta", "passt": "pasta", "slirp4netns": "slirp4netns"}
"""Programs behind a tap device of rootless containers, by the beginning of their names."""


def network_path(clients: Iterable[int], servers: Iterable[int], system: System | None = None) -> str | None:
    """The path between processes of this host: `host` (its own loopback), `one namespace`, `bridge`, `veth` (without a
    bridge that is seen here), `pasta`, `slirp4netns`, `tap`; several with `+`. None: it cannot be told.

    Args:
        clients: ids of processes that ask.
        servers: and of those that are asked.
    """
    system = system or System()
    own, ends = _namespace(system, "self"), [[*clients], [*servers]]
    spaces = {pid: _namespace(system, str(pid)) for pids in ends for pid in pids}
    if not all(ends) or own is None or None in spaces.values():
        return None
    paths: set[str] = set()
    for client in ends[0]:
        for server in ends[1]:
            if spaces[client] == spaces[server]:
                paths.add("host" if spaces[client] == own else "one namespace")
                continue
            for pid in (client, server):
                if spaces[pid] != own:
                    paths |= _links(system, pid)
    return "+".join(sorted(paths)) or None


def _namespace(system: System, pid: str) -> str | None:
    try:
        return str(system.path(f"proc/{pid}/ns/net").readlink())
    except OSError:
        return None


def _links(system: System, pid: int) -> set[str]:
    """What leads into the namespace of a process: by the kernel's files as the process sees them."""
    kinds = set()
    for link in system.glob(f"proc/{pid}/root/sys/class/net", "*"):
        here = str(link.relative_to(system.root))
        peer = system.text(f"{here}/iflink")
        if system.text(f"{here}/tun_flags") is not None:
            kinds.add(_forwarder(system))
        elif link.name != "lo" and peer != system.text(f"{here}/ifindex"):
            kinds.add("bridge" if _is_bridged(system, peer) else "veth")
    return kinds


def _is_bridged(system: System, index: str | None) -> bool:
    """Whether the link of this host with this number is a port of a bridge."""
    return any(
        system.text(f"sys/class/net/{link.name}/ifindex") == index
        and system.path(f"sys/class/net/{link.name}/brport").exists()
        for link in system.glob("sys/class/net", "*")
    )


def _forwarder(system: System) -> str:
    """What holds tap devices on this host; `tap`: none of the programs that are known."""
    for comm in system.glob("proc", "[0-9]*/comm"):
        name = (system.text(str(comm.relative_to(system.root))) or "").partition(".")[0]
        if name in _FORWARDERS:
            return _FORWARDERS[name]
    return "tap"
