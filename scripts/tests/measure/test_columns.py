# SPDX-License-Identifier: Apache-2.0
"""A sampled column stands in `sampling/columns.py` alone: figures ask for those of it, and docs/files.md lists them."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from test_record import evidence, group_rows

from steelyard.measure.columns import KEYS
from steelyard.measure.record import component_results, measure_trial
from steelyard.measure.samples import Table
from steelyard.measure.series import NOTHING_READ, Series
from steelyard.paths import ROOT
from steelyard.sampling.columns import COLUMNS
from steelyard.session.procedures import find_thrashing


class AskedFor(dict[tuple[str, ...], Series]):
    """A table that remembers of which columns a series was asked for."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self.columns: set[str] = set()

    def get(self, key: tuple[str, ...], default: Series = NOTHING_READ) -> Series:  # type: ignore[override]
        self.columns.add(key[-1])
        return super().get(key, default)


def test_figures_are_made_of_what_is_sampled_and_of_all_of_it(tmp_path: Path) -> None:
    window = evidence(tmp_path, group_rows("server-1"), group_rows("server-2"))
    processes, cgroups = AskedFor(window.samples.processes), AskedFor(window.samples.cgroups)
    window.samples = replace(window.samples, processes=processes, cgroups=cgroups)
    measure_trial(window, component_results(window))
    find_thrashing(window.spec.components, window.samples, window.start, window.end)
    for name, table in (("processes", processes), ("cgroups", cgroups)):
        sampled = {*COLUMNS[name].split(",")} - {*KEYS[name]}
        assert table.columns == sampled


@pytest.mark.parametrize("table", COLUMNS)
def test_the_page_of_files_lists_them_in_their_order(table: str) -> None:
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    (cells,) = re.findall(rf"^\| {table}\.csv \| (.*) \|$", page, re.MULTILINE)
    listed = [word for word in re.findall(r"\w+", cells) if word in COLUMNS[table].split(",")]
    assert list(dict.fromkeys(listed)) == COLUMNS[table].split(",")
