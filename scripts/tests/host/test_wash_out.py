# SPDX-License-Identifier: Apache-2.0
"""What is done between two trials, on a recorded tree whose CPUs calm down, or do not."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from fake_clock import FakeClock

from steelyard.host.system import System
from steelyard.host.wash_out import LONGEST, wash_out

TICKS = 200
"""Of all CPUs in one look."""


class Calming:
    """A host whose CPUs are so busy, look by look."""

    def __init__(self, root: Path, shares: Sequence[float]) -> None:
        self.system = System(root)
        self.clock = FakeClock()
        self.clock.before_sleep = self._pass
        self.left = [*shares]
        self.busy = self.idle = 0
        self.looks = self.syncs = 0
        self.compact = root / "proc/sys/vm/compact_memory"
        self.compact.parent.mkdir(parents=True)
        self.compact.write_text("")
        (root / "proc/buddyinfo").write_text(
            "Node 0, zone  DMA      0 0 0 0 0 0 0 0 0 0 0\nNode 0, zone  Normal 9000 8000 10 2 1 0 0 0 0 0 0\n"
        )
        self._write()

    def _pass(self) -> None:
        self.looks += 1
        used = round(TICKS * (self.left.pop(0) if len(self.left) > 1 else self.left[0]))
        self.busy, self.idle = self.busy + used, self.idle + TICKS - used
        self._write()

    def _write(self) -> None:
        (self.compact.parents[2] / "stat").write_text(
            f"cpu  {self.busy} 0 0 {self.idle} 5 0 0 7 0 0\nintr 1\n"
        )

    def _sync(self) -> None:
        self.syncs += 1

    def wash(self) -> float | None:
        return wash_out(self.system, self.clock, self._sync)


@pytest.mark.parametrize(
    ("shares", "looks", "left"),
    [
        ([0.0], 1, 0.0),
        ([0.5, 0.3, 0.1, 0.01], 4, 0.01),
        # Somebody else's load does not fall, and is not waited for.
        ([0.5], 2, 0.5),
        ([0.5, 0.2, 0.19], 3, 0.19),
    ],
)
def test_it_waits_as_long_as_the_host_calms_down(
    tmp_path: Path, shares: list[float], looks: int, left: float
) -> None:
    host = Calming(tmp_path, shares)
    assert host.wash() == pytest.approx(left)
    assert (host.looks, host.syncs) == (looks, 1)
    assert host.compact.read_text() == "1\n"


@pytest.mark.parametrize(
    ("page", "buddies", "compacted"),
    [
        (4096, "Node 0, zone Normal 9000 8000 10 2 1 1 0 0 0 1 1\n", True),
        (4096, "Node 0, zone Normal 90 80 10 2 1 1 0 0 0 10 10\n", False),
        # With pages of 64 KiB blocks are large from the sixth on, of 2 MiB; those of 256 and 512 MiB are rare.
        (65536, "Node 0, zone Normal 90 80 10 2 1 900 800 10 10 10 10 10 0 0\n", False),
        (65536, "Node 0, zone Normal 9000 8000 900 900 900 9 8 0 0 0 0 0 0 0\n", True),
        (4096, "", False),
    ],
)
def test_memory_is_compacted_only_where_it_lies_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: int, buddies: str, compacted: bool
) -> None:
    """It takes seconds of CPU, of each trial."""
    monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": page}.__getitem__)
    host = Calming(tmp_path, [0.0])
    (tmp_path / "proc/buddyinfo").write_text(buddies)
    host.wash()
    assert bool(host.compact.read_text()) is compacted


def test_it_does_not_wait_for_ever(tmp_path: Path) -> None:
    host = Calming(tmp_path, [0.95 * 0.7**look for look in range(2 * LONGEST)])
    host.wash()
    assert host.looks <= LONGEST


@pytest.mark.parametrize("text", ["", "cpu 1 2\n", "cpu a b c d e f g h\n", "intr 5\n"])
def test_what_the_kernel_does_not_tell_is_not_waited_for(tmp_path: Path, text: str) -> None:
    host = Calming(tmp_path, [0.5])
    host.clock.before_sleep = lambda: None
    (tmp_path / "proc/stat").write_text(text)
    host.compact.unlink()
    assert host.wash() is None
    assert host.syncs == 1
