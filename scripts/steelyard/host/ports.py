# SPDX-License-Identifier: Apache-2.0
"""Whether the ports that the servers need are free."""

import errno
import socket
from collections.abc import Iterable
from pathlib import Path

import psutil

from steelyard.errors import BadInput, PortInUse

_EPHEMERAL_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def refuse_ephemeral(ports: Iterable[int], source: Path = _EPHEMERAL_RANGE) -> None:
    """Refuse ports that the kernel hands out to outgoing connections: one of those may hold a server's port.

    It need not be a stranger's: a client that polls a port of this range until a server opens it can be given that
    very port as its own, and then the server cannot have it.

    Raises:
        BadInput: naming the range to stay out of; or a port that is none.
    """
    ports = list(ports)
    if max(ports, default=0) > 65535:
        raise BadInput(
            f"the last port would be {max(ports)}, and 65535 is the last there is: choose a lower --port"
        )
    try:
        low, high = (int(word) for word in source.read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return  # no IPv4, or not to be read here
    taken = [port for port in ports if low <= port <= high]
    if taken:
        raise BadInput(
            f"port {taken[0]} lies between {low} and {high}, from where this host takes the ports of outgoing"
            f" connections: choose one below {low} with --port"
        )


def require_ports(ports: Iterable[int]) -> None:
    """Check that each TCP port can be bound on all addresses, as a server will bind it.

    Raises:
        PortInUse: one is taken; the sentence names the process that listens, where it can be seen.
    """
    for port in ports:
        for family, address in ((socket.AF_INET6, "::"), (socket.AF_INET, "0.0.0.0")):
            if not _free(family, address, port):
                raise PortInUse(
                    f"port {port} is already in use{_listener(port)}: stop that process, or choose another port"
                )


def _free(family: socket.AddressFamily, address: str, port: int) -> bool:
    try:
        probe = socket.socket(family, socket.SOCK_STREAM)
    except OSError:
        return True  # no IPv6 on this host: nobody can hold the port there
    with probe:
        # As servers do: connections of a server that has just ended linger and do not hinder the next one.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            probe.bind((address, port))
        except PermissionError as error:
            raise PortInUse(f"port {port} may not be opened by this user: choose one above 1023") from error
        except OSError as error:
            return error.errno == errno.EADDRNOTAVAIL  # the family is there but switched off
        return True


def _listener(port: int) -> str:
    """Who listens there, as far as this user may see it."""
    try:
        for one in psutil.net_connections("tcp"):
            if one.status == psutil.CONN_LISTEN and one.pid and one.laddr and one.laddr.port == port:
                return f" by {psutil.Process(one.pid).name()} (process {one.pid})"
    except psutil.Error:
        pass
    return ""
