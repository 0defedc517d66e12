# SPDX-License-Identifier: Apache-2.0
"""async-profiler beside a trial: its option, its library, and which of its slices are kept."""

import os
import platform
from pathlib import Path

import pytest

from steelyard.errors import MissingRequirement
from steelyard.results.schema import Event
from steelyard.session.async_profiler import (
    EVENTS,
    agent_option,
    keep_slices,
    passes,
    require_library,
    slice_seconds,
)


@pytest.mark.parametrize("event", EVENTS)
def test_the_agent_writes_slices_into_the_folder_of_logs(event: Event) -> None:
    option = agent_option(event, Path("/lib.so"))
    assert option.startswith(f"-agentpath:/lib.so=start,event={event},")
    assert f"file=${{folder}}/logs/{event}-%n.collapsed" in option


def test_a_platform_without_a_library_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "ppc64le")
    with pytest.raises(MissingRequirement, match="no library for ppc64le: choose jfr or perf"):
        require_library("cpu")
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert require_library("cpu") == "linux-arm64/libasyncProfiler.so"


def test_slices_of_the_window_alone_are_kept_in_their_order(tmp_path: Path) -> None:
    logs, kept = tmp_path / "logs", tmp_path / "kept"
    logs.mkdir()
    for number in range(8):
        path = logs / f"cpu-{number}.collapsed"
        path.write_text(f"frame {number}\n", encoding="utf-8")
        os.utime(path, (1000 + 2 * number, 1000 + 2 * number))
    for name in ("alloc-3.collapsed", "cpu-x.collapsed", "gc.log"):
        (logs / name).write_text("", encoding="utf-8")
        os.utime(logs / name, (1006, 1006))
    # Each holds the two seconds before it was written: that of 1004 begins at 1002.
    assert keep_slices("cpu", logs, (1003.0, 1010.0), kept) == [f"cpu-{n}.collapsed" for n in (3, 4, 5)]
    assert sorted(path.name for path in kept.iterdir()) == [f"cpu-{n}.collapsed" for n in (3, 4, 5)]


def test_a_slice_that_the_end_of_its_jvm_cut_short_is_left_out(tmp_path: Path) -> None:
    """As one session had it: 0.39 s after the last whole slice, within the tolerance of the window's end."""
    logs, kept = tmp_path / "logs", tmp_path / "kept"
    logs.mkdir()
    for number, written in enumerate([1003.99, 1006.0, 1008.0, 1010.01, 1012.02, 1012.41]):
        path = logs / f"alloc-{number}.collapsed"
        path.write_text("frame 1\n", encoding="utf-8")
        os.utime(path, (written, written))
    names = keep_slices("alloc", logs, (1001.9, 1012.0), kept)
    assert names == [f"alloc-{number}.collapsed" for number in range(5)]


def test_of_a_start_up_the_slice_is_kept_in_which_it_ends(tmp_path: Path) -> None:
    """It takes 1.6 s; a JVM that starts before it, for the data, is none of it."""
    logs, kept = tmp_path / "logs", tmp_path / "kept"
    logs.mkdir()
    for number, written in enumerate([999.0, 1001.1, 1002.1, 1002.4]):
        path = logs / f"cpu-{number}.collapsed"
        path.write_text("frame 1\n", encoding="utf-8")
        os.utime(path, (written, written))
    names = keep_slices("cpu", logs, (1000.0, 1001.6), kept, "start-up")
    assert names == ["cpu-1.collapsed", "cpu-2.collapsed"]
    assert keep_slices("cpu", logs, (1000.0, 1000.5), tmp_path / "short", "start-up") == ["cpu-1.collapsed"]
    assert ",loop=1s," in agent_option("cpu", Path("/lib.so"), slice_seconds("start-up"))


def test_each_event_has_a_trial_of_its_own_and_all_others_share_one() -> None:
    assert passes(["jfr", "perf", "cpu", "alloc"]) == [["jfr", "perf"], ["cpu"], ["alloc"]]
    assert passes(["cpu"]) == [["cpu"]]
    assert passes([]) == []
