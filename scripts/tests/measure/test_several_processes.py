# SPDX-License-Identifier: Apache-2.0
"""A server of several processes (a start script without `exec`, workers) has one row for all of them each second, and
the trial's figures are made of the same rows as the component's."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from one_table import require_one_table
from test_record import SECONDS, T, evidence

from steelyard.measure.record import component_results, measure_trial
from steelyard.measure.samples import Samples
from steelyard.sampling.columns import COLUMNS

MIB = 2**20
USES = {
    # Component: user and system CPU seconds a second, RSS and PSS.
    "server-1": (0.6, 0.2, 97 * MIB, 85 * MIB),
    "server-2": (0.3, 0.1, 100 * MIB, 95 * MIB),
    "injector-1": (0.1, 0.0, 200 * MIB, 200 * MIB),
    "injector-2": (0.1, 0.0, 200 * MIB, 200 * MIB),
}


def sampled(folder: Path, ended: int = 0, columns: str = COLUMNS["processes"]) -> Samples:
    """What the sampler writes; in the middle so many processes of the first server end."""
    count = len(columns.split(","))
    rows = [
        ",".join(
            f"{T + s},{name},{user * s},{system * s},{rss},{pss},0,0,{3 * s},{s},5,0,3,"
            f"{ended if name == 'server-1' and s >= SECONDS / 2 else 0}".split(",")[:count]
        )
        for name, (user, system, rss, pss) in USES.items()
        for s in range(SECONDS + 1)
    ]
    (folder / "processes.csv").write_text("\n".join([columns, *rows]) + "\n", encoding="utf-8")
    return Samples.load(folder)


def test_memory_is_that_of_all_processes_of_the_servers(tmp_path: Path) -> None:
    found = evidence(tmp_path)
    found.samples = sampled(tmp_path)
    components = component_results(found)
    first, second = components[:2]
    assert (first.rss_mean, first.rss_peak, first.pss_mean) == (97 * MIB, 97 * MIB, 85 * MIB)
    assert (second.rss_mean, second.rss_peak, second.pss_mean) == (100 * MIB, 100 * MIB, 95 * MIB)
    measured = measure_trial(found, components)
    assert measured.memory_rss == pytest.approx(197 * MIB)
    assert measured.memory_rss_peak == pytest.approx(197 * MIB)
    assert measured.memory_pss == pytest.approx(180 * MIB)
    require_one_table(SimpleNamespace(measurement=measured, components=components))


def test_cpu_is_that_of_all_processes_of_a_server(tmp_path: Path) -> None:
    found = evidence(tmp_path)
    found.samples = sampled(tmp_path)
    first, second = component_results(found)[:2]
    assert first.cpu_seconds == pytest.approx(10 * 0.8)
    assert second.cpu_seconds == pytest.approx(10 * 0.4)


def test_switches_of_processes_that_ended_meanwhile_are_not_known(tmp_path: Path) -> None:
    found = evidence(tmp_path)
    found.samples = sampled(tmp_path, ended=1)
    first, second = component_results(found)[:2]
    assert first.switches is None
    assert second.switches == pytest.approx(4 * 10)


def test_samples_of_a_version_that_did_not_count_processes_are_read(tmp_path: Path) -> None:
    found = evidence(tmp_path)
    found.samples = sampled(tmp_path, columns=COLUMNS["processes"].removesuffix(",processes,ended"))
    first = component_results(found)[0]
    assert first.rss_mean == 97 * MIB
    assert first.switches == pytest.approx(4 * 10)


def test_figures_from_two_tables_are_told(tmp_path: Path) -> None:
    """As when the trial forgets all but the first process of each component."""
    found = evidence(tmp_path)
    found.samples = sampled(tmp_path)
    components = component_results(found)
    measured = measure_trial(found, components).model_copy(update={"memory_rss": 102.0 * MIB})
    with pytest.raises(AssertionError, match="memory_rss"):
        require_one_table(SimpleNamespace(measurement=measured, components=components))
