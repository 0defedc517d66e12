# SPDX-License-Identifier: Apache-2.0
"""What servers of `variant_cost.py` are asked for: Olio's pages by its Markov chain, DayTrader7's market summary."""

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol
from urllib.request import HTTPCookieProcessor, build_opener

from variant_browser import OlioPages
from variant_server import HOST, RunningServer
from variant_socket import TextSocket

_EXECUTED = re.compile(r"Executing prepared statement: ([SIUD].*) :End")
_OF_NOBODY = re.compile(r"SYS\.|SYSIBM|DATASET")
"""Questions about tables, and readiness."""


@dataclass
class Played:
    """What a stretch of operations came to."""

    cpu: dict[str, list[float]] = field(default_factory=dict)
    """CPU seconds of each operation, where there are several kinds."""
    answers: list[int] = field(default_factory=list)
    """A number for each page; equal pages have the same."""


class Load(Protocol):
    """Asks one server."""

    STRETCHES: ClassVar[Sequence[str]]
    """What is asked for and measured apart."""
    READY: ClassVar[str]
    """The path that says that a server is ready."""
    COUNTS_STATEMENTS: ClassVar[bool]

    @staticmethod
    def prepare(package: Path, java_home: Path, folder: Path) -> Path:
        """Make the data that each server gets a copy of."""

    @staticmethod
    def environment(data: Path, folder: Path) -> Mapping[str, str]:
        """Variables of a server that keeps its own data in a folder."""

    def play(self, stretch: str, count: int, cpu: Callable[[], float]) -> Played:
        """Ask for so many, one after the other; `cpu` tells the server's CPU seconds."""

    def count_statements(self, stretch: str, count: int, log: Path) -> dict[str, list[int]]:
        """Ask for so many: statements that each operation has sent, by Derby's log."""


def sent_statements(log: str) -> int:
    """How many statements of an application are in a piece of Derby's log."""
    return sum(not _OF_NOBODY.search(statement) for statement in _EXECUTED.findall(log))


class OlioLoad:
    """25 users in turns, by the published chain, without pauses, pictures and scripts."""

    STRETCHES: ClassVar[Sequence[str]] = ("an operation",)
    READY: ClassVar[str] = "/olio/health/ready"
    COUNTS_STATEMENTS: ClassVar[bool] = True

    def __init__(self, server: RunningServer) -> None:
        files = server.folder / "data" / "files"
        self._pages = OlioPages(HOST, server.port, files)

    @staticmethod
    def prepare(package: Path, java_home: Path, folder: Path) -> Path:
        """Load the data with a server; its files are links, as nobody looks at them."""
        loaded = folder / "loaded"
        if loaded.exists():
            return folder / "data"
        environment = {**OlioLoad._variables(folder), "JVM_ARGS": "-Xmx384m"}
        with RunningServer(package, "olio", folder / "loader", java_home, environment) as server:
            server.wait_until_ready(OlioLoad.READY)
            said = server.get("/olio/load")
            if not said.endswith("Loaded.\n"):
                raise RuntimeError(said)
        loaded.touch()
        return folder / "data"

    @staticmethod
    def environment(data: Path, folder: Path) -> Mapping[str, str]:
        """Copies the data."""
        shutil.copytree(data / "files", folder / "data" / "files", copy_function=_link)
        shutil.copytree(data / "derby", folder / "data" / "derby")
        return OlioLoad._variables(folder)

    @staticmethod
    def _variables(folder: Path) -> dict[str, str]:
        return {
            "OLIO_SCALE": "25",
            "OLIO_FILES": "small",
            "OLIO_FILES_MODE": "hardlink",
            "OLIO_FILESTORE": str(folder / "data" / "files"),
            "OLIO_DERBY_FOLDER": str(folder / "data" / "derby"),
            # Nobody listens there: an address is refused at once, and the place is 0, 0.
            "OLIO_GEOCODER_URL": f"http://{HOST}:1",
        }

    def play(self, stretch: str, count: int, cpu: Callable[[], float]) -> Played:
        """Operations of all users."""
        del stretch
        self._pages.connect()
        played = Played()
        for _ in range(count):
            before = cpu()
            operation = self._pages.perform(played.answers)
            played.cpu.setdefault(operation, []).append(cpu() - before)
        return played

    def count_statements(self, stretch: str, count: int, log: Path) -> dict[str, list[int]]:
        """What stands in the log after each operation and did not before."""
        del stretch
        self._pages.connect()
        counts: dict[str, list[int]] = {}
        with log.open(encoding="utf-8", errors="replace") as lines:
            lines.seek(0, 2)
            for _ in range(count):
                operation = self._pages.perform([])
                counts.setdefault(operation, []).append(sent_statements(lines.read()))
        return counts


def _link(source: str, target: str) -> str:
    Path(target).hardlink_to(source)
    return target


class TradeLoad:
    """One client with two websockets: the market summary, and texts that no JSON is made of."""

    STRETCHES: ClassVar[Sequence[str]] = ("market summary", "text without JSON")
    READY: ClassVar[str] = "/daytrader/health/ready"
    COUNTS_STATEMENTS: ClassVar[bool] = False
    _BUYS = 5
    """Changes of prices that a summary tells."""

    def __init__(self, server: RunningServer) -> None:
        server.get("/daytrader/config?action=buildDB")
        client = build_opener(HTTPCookieProcessor())
        client.open(f"{server.url}/daytrader/app?action=login&uid=uid:1&passwd=xxx").read()
        for stock in range(self._BUYS):
            client.open(f"{server.url}/daytrader/app?action=buy&symbol=s:{stock}&quantity=1").read()
        self._summary = TextSocket(HOST, server.port, "/daytrader/marketsummary")
        self._text = TextSocket(HOST, server.port, "/daytrader/pingTextSync")

    @staticmethod
    def prepare(package: Path, java_home: Path, folder: Path) -> Path:
        """Each server makes its own."""
        del package, java_home
        return folder

    @staticmethod
    def environment(data: Path, folder: Path) -> Mapping[str, str]:
        """Derby in the server's own folder."""
        del data, folder
        return {"TRADE_MAX_USERS": "200", "TRADE_MAX_QUOTES": "400", "TRADE_CONNECTIONS": "10"}

    def play(self, stretch: str, count: int, cpu: Callable[[], float]) -> Played:
        """Messages, each sent once the one before it is answered."""
        del cpu
        for _ in range(count):
            if stretch == "market summary":
                self._summary.ask('{"action":"update"}', '{"gainer1_stock"')
            else:
                self._text.ask("a text", "")
        return Played()

    def count_statements(self, stretch: str, count: int, log: Path) -> dict[str, list[int]]:
        """A message sends none."""
        raise NotImplementedError


LOADS: Mapping[str, type[OlioLoad | TradeLoad]] = {"olio": OlioLoad, "daytrader7": TradeLoad}
"""By the package of a server."""
