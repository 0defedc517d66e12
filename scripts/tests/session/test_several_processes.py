# SPDX-License-Identifier: Apache-2.0
"""A server of several processes (a start script without `exec`, workers): each figure is of all of them."""

from pathlib import Path

import pytest
from test_collect import SECONDS, T, evidence

from steelyard.sampling.output import COLUMNS
from steelyard.sampling.read import Samples
from steelyard.session import collect

MIB = 2**20
USES = {
    # Process: user and system CPU seconds a second, RSS and PSS.
    "server-1": (0.0, 0.0, 2 * MIB, 1 * MIB),
    "server-1:1": (0.4, 0.1, 90 * MIB, 80 * MIB),
    "server-1:2": (0.2, 0.1, 5 * MIB, 4 * MIB),
    "server-2": (0.3, 0.1, 100 * MIB, 95 * MIB),
    "injector-1": (0.1, 0.0, 200 * MIB, 200 * MIB),
    "injector-2": (0.1, 0.0, 200 * MIB, 200 * MIB),
}


@pytest.fixture
def samples(tmp_path: Path) -> Samples:
    rows = [
        f"{T + s},{name},{user * s},{system * s},{rss},{pss},0,0,0,0,5,0"
        for name, (user, system, rss, pss) in USES.items()
        for s in range(SECONDS + 1)
    ]
    (tmp_path / "processes.csv").write_text("\n".join([COLUMNS["processes"], *rows]) + "\n", encoding="utf-8")
    return Samples.load(tmp_path)


def test_memory_is_that_of_all_processes_of_the_servers(tmp_path: Path, samples: Samples) -> None:
    found = evidence(tmp_path)
    found.samples = samples
    components = collect.component_results(found)
    first, second = components[:2]
    assert (first.rss_mean, first.rss_peak, first.pss_mean) == (97 * MIB, 97 * MIB, 85 * MIB)
    assert (second.rss_mean, second.rss_peak, second.pss_mean) == (100 * MIB, 100 * MIB, 95 * MIB)
    measured = collect.measure(found, components)
    assert measured.memory_rss == pytest.approx(197 * MIB)
    assert measured.memory_rss_peak == pytest.approx(197 * MIB)
    assert measured.memory_pss == pytest.approx(180 * MIB)


def test_cpu_is_that_of_all_processes_of_a_server(tmp_path: Path, samples: Samples) -> None:
    found = evidence(tmp_path)
    found.samples = samples
    first, second = collect.component_results(found)[:2]
    assert first.cpu_seconds == pytest.approx(10 * (0.5 + 0.3))
    assert second.cpu_seconds == pytest.approx(10 * 0.4)
