# SPDX-License-Identifier: Apache-2.0
"""Where processes listen: the kernel's tables of sockets (`/proc/net/tcp`, `tcp6`), by the sockets that they hold."""

import contextlib
import ipaddress
import os
import socket
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

_LISTENS = "0A"
"""State of a socket in the tables (include/net/tcp_states.h: TCP_LISTEN is 10)."""


class Listener(NamedTuple):
    """An address and a port at which somebody listens."""

    address: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether nobody outside of its network namespace reaches it."""
        address = ipaddress.ip_address(self.address)
        return (getattr(address, "ipv4_mapped", None) or address).is_loopback

    def __str__(self) -> str:
        """As it is written in a URL."""
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


def listeners(pids: Sequence[int]) -> list[Listener]:
    """Where processes listen on TCP, by port; nothing of those that have gone or belong to somebody else."""
    held = {inode for pid in pids for inode in _sockets(pid)}
    return _list(pids[0], held) if held else []


def namespace_listeners(pid: int) -> list[Listener]:
    """Where anybody listens in the network namespace of a process, by port; every user may read that."""
    return _list(pid, None)


def _list(pid: int, held: Iterable[int] | None) -> list[Listener]:
    listed: set[Listener] = set()
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            # Its own tables: it may be in another network namespace.
            listed |= set(parse_table(Path(f"/proc/{pid}/net/{table}").read_text(encoding="ascii"), held))
    return sorted(listed, key=lambda listener: (listener.port, listener.address))


def parse_table(text: str, held: Iterable[int] | None) -> list[Listener]:
    """The listening sockets of such a table that have one of these inodes (None: all); lines that are none are passed
    over."""
    wanted, listed = None if held is None else set(held), []
    for line in text.splitlines()[1:]:
        with contextlib.suppress(ValueError, IndexError, OSError):
            words = line.split()
            if words[3] == _LISTENS and (wanted is None or int(words[9]) in wanted):
                address, _, port = words[1].partition(":")
                listed.append(Listener(_address(address), int(port, 16)))
    return listed


def _address(written: str) -> str:
    """An address from its words of four bytes, each in the byte order of the machine."""
    raw = bytes.fromhex(written)
    if sys.byteorder == "little":
        raw = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    return socket.inet_ntop(socket.AF_INET if len(raw) == 4 else socket.AF_INET6, raw)


def _sockets(pid: int) -> Iterable[int]:
    """Inodes of the sockets that a process holds."""
    with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as files:
        for file in files:
            with contextlib.suppress(OSError):
                target = os.readlink(file.path)  # noqa: PTH115 - of hundreds of files, many times
                if target.startswith("socket:["):
                    yield int(target[8:-1])
