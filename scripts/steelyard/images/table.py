# SPDX-License-Identifier: Apache-2.0
"""The table of docs/images.md: what every image weighs and how soon it answers (pure)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from statistics import median
from typing import Any

from steelyard.errors import BadInput
from steelyard.images.bake import Target
from steelyard.units import MIB

BEGIN = "<!-- made by `./steelyard images table`: begin -->"
END = "<!-- made by `./steelyard images table`: end -->"
_MB = 1_000_000
_NONE = "-"


@dataclass(frozen=True)
class Started:
    """Starts of a server image, each a fresh container with 1 CPU and 512 MiB."""

    seconds: tuple[float, ...]
    """From the engine's start call to the first correct response."""
    rss: tuple[int, ...]
    """Resident bytes of the container's processes right after it."""
    emulated: bool


@dataclass(frozen=True)
class Row:
    """An image on a platform."""

    target: str
    platform: str
    size: int | None
    """Bytes unpacked; None: not built."""
    compressed: int | None
    layers: int | None
    started: Started | None
    """None: it serves no requests, or was not started."""

    def document(self) -> dict[str, Any]:
        """For `--json`: bytes and seconds, every start, and their median."""
        found = asdict(self)
        if self.started is not None:
            found["started"]["median_seconds"] = median(self.started.seconds)
            found["started"]["median_rss"] = median(self.started.rss)
        return found


def not_built(target: str, platform: str) -> Row:
    """The row of an image that the registry does not have."""
    return Row(target, platform, None, None, None, None)


def expected(targets: Mapping[str, Target]) -> list[tuple[str, str]]:
    """Every image and platform that the bake file names, in the order of the table."""
    return [(target.name, platform) for target in targets.values() for platform in target.platforms]


def render(rows: Sequence[Row], about: str) -> str:
    """The generated part of docs/images.md, markers included.

    Args:
        rows: all images and platforms.
        about: one sentence on where and when it was measured.
    """
    head = [
        "| image | platform | size | compressed | layers | first response | resident |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    return "\n".join([BEGIN, "", about, "", *head, *(_line(row) for row in rows), "", END])


def about(host: str, runs: int) -> str:
    """The sentences above the table: where it was measured and how."""
    today = datetime.now(tz=UTC).date().isoformat()
    return (
        f"Measured on {today} on a {host}. First response: from `docker start` to the first correct answer,"
        f" `--cpus=1 --memory=512m`, read-only, median of {runs} fresh containers; resident: memory of the container's"
        " processes right then. Emulated platforms are started once, with `-XX:TieredStopAtLevel=1` and without a"
        " memory limit: their figures show that the image works, and say nothing of that hardware."
    )


def replaced(document: str, generated: str) -> str:
    """The document with its generated part replaced.

    Raises:
        BadInput: the markers are not in it.
    """
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise BadInput(f"the page has no part between {BEGIN} and {END}: take it from the repository again")
    return before + generated + after


def _line(row: Row) -> str:
    if row.size is None or row.compressed is None:
        cells = ["not built", _NONE, _NONE, _NONE, _NONE]
    else:
        cells = [
            _megabytes(row.size),
            _megabytes(row.compressed),
            str(row.layers),
            *_start_cells(row.started),
        ]
    return f"| `{row.target}` | {row.platform} | " + " | ".join(cells) + " |"


def _start_cells(started: Started | None) -> list[str]:
    if started is None:
        return [_NONE, _NONE]
    mark = " (emulated)" if started.emulated else ""
    return [f"{median(started.seconds):.1f} s{mark}", f"{median(started.rss) / MIB:.0f} MiB{mark}"]


def _megabytes(size: int) -> str:
    return f"{size / _MB:.0f} MB" if size >= 10 * _MB else f"{size / _MB:.1f} MB"
