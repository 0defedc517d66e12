# SPDX-License-Identifier: Apache-2.0
"""Ports for the servers: free ones, which the kernel does not give to others meanwhile."""

import contextlib
import errno
import os
import re
import socket
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import psutil

from steelyard.errors import BadInput, PortInUse
from steelyard.host.cpus import read_cpus
from steelyard.host.system import System

_RANGE = "proc/sys/net/ipv4/ip_local_port_range"
_RESERVED = "proc/sys/net/ipv4/ip_local_reserved_ports"
_LAST = 65535
_FIRST = 1024
"""Lower ones are root's."""
_OWN = 10_000
"""From here on a process looks for a port of its own."""
_ADDRESSES = ((socket.AF_INET6, "::"), (socket.AF_INET, "0.0.0.0"))


class Ephemeral(NamedTuple):
    """Ports that the kernel hands out to outgoing connections: one of those may hold a server's port.

    It need not be a stranger's: a client that polls a port of this range until a server opens it can be given that
    very port as its own, and then the server cannot have it.
    """

    low: int
    high: int
    """The last one."""
    reserved: frozenset[int]
    """Those between them that it leaves out (`ip_local_reserved_ports`)."""

    @classmethod
    def of(cls, system: System) -> "Ephemeral | None":
        """Of a host; None: no IPv4, or not to be read here."""
        ends = re.fullmatch(r"([0-9]+)\s+([0-9]+)", system.text(_RANGE) or "")
        reserved = frozenset(read_cpus(system, _RESERVED))
        return cls(int(ends[1]), int(ends[2]), reserved) if ends is not None else None

    def __contains__(self, port: object) -> bool:
        return isinstance(port, int) and self.low <= port <= self.high and port not in self.reserved

    def first_outside(self, count: int, wanted: int) -> int | None:
        """The first of so many ports in a row that the kernel does not hand out: from `wanted` on where that will do,
        else as near below or above the range as can be; None: this host has no such ports."""
        for first in (wanted, self.low - count, self.high + 1, *sorted(self.reserved)):
            if (
                first >= _FIRST
                and first + count - 1 <= _LAST
                and not any(map(self.__contains__, range(first, first + count)))
            ):
                return first
        return None


def free_first_port(ports: Collection[int], first: int, system: System | None = None) -> int:
    """The first port to take in the place of one that nobody chose, for so many ports: `first`, unless the kernel hands
    out one of them and leaves others alone."""
    handed_out = Ephemeral.of(system or System())
    if not ports or handed_out is None:
        return first
    outside = handed_out.first_outside(max(ports) - min(ports) + 1, first)
    return first if outside is None else outside


def free_port(system: System | None = None) -> int:
    """A port for a server that starts at once: nobody listens there, and the kernel hands it to no connection and to
    nobody who binds port 0, where this host has such ports.

    Each process begins with another one, so that two that look at the same time do not take the same.
    """
    handed_out = Ephemeral.of(system or System())
    begin = _OWN + os.getpid() % 1000 * 10
    ports: tuple[int, ...] = (*range(begin, _LAST + 1), *range(_FIRST, begin))
    outside = (port for port in ports if handed_out is None or port not in handed_out)
    return next(
        port
        for port in chain(outside, ports)
        if all(_free(family, address, port) for family, address in _ADDRESSES)
    )


def refuse_ephemeral(ports: Iterable[int], system: System | None = None) -> None:
    """Refuse ports that the kernel hands out to outgoing connections, where this host has others. (Where it has not,
    they are held: `held_ports`.)

    Raises:
        BadInput: naming a port to take instead; or a port that is none.
    """
    ports = list(ports)
    if max(ports, default=0) > _LAST:
        raise BadInput(
            f"the last port would be {max(ports)}, and {_LAST} is the last there is: choose a lower --port"
        )
    handed_out = Ephemeral.of(system or System())
    taken = [port for port in ports if handed_out is not None and port in handed_out]
    if handed_out is None or not taken:
        return
    instead = handed_out.first_outside(max(ports) - min(ports) + 1, min(ports))
    if instead is not None:
        raise BadInput(
            f"port {taken[0]} lies between {handed_out.low} and {handed_out.high}, from where this host takes the ports"
            f" of outgoing connections: choose another with --port, for example {instead}"
        )


@contextlib.contextmanager
def held_ports(ports: Iterable[int], system: System | None = None) -> Iterator[list[int]]:
    """Keep the kernel from handing out those of these ports that it could; the servers may open them.

    A socket is bound to each and does not listen: the kernel gives no bound port to a connection, and lets a server
    that sets SO_REUSEADDR, as JVMs, nginx and node do, bind the same one beside it. Yields the ports that are held.

    Raises:
        PortInUse: one is taken.
    """
    handed_out = Ephemeral.of(system or System())
    wanted = sorted({port for port in ports if handed_out is not None and port in handed_out})
    require_ports(wanted)
    with contextlib.ExitStack() as stack:
        for port in wanted:
            for family, address in _ADDRESSES:
                with contextlib.suppress(OSError):  # no IPv6 here
                    listener = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
                    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    if family == socket.AF_INET6:
                        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                    listener.bind((address, port))
        yield wanted


def require_ports(ports: Iterable[int]) -> None:
    """Check that each TCP port can be bound on all addresses, as a server will bind it.

    Raises:
        PortInUse: one is taken; the sentence names the process that listens, where it can be seen.
    """
    for port in ports:
        for family, address in _ADDRESSES:
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
        for connection in psutil.net_connections("tcp"):
            if connection.status != psutil.CONN_LISTEN or not connection.pid or not connection.laddr:
                continue
            if connection.laddr.port == port:
                return f" by {psutil.Process(connection.pid).name()} (process {connection.pid})"
    except psutil.Error:
        pass
    return ""
