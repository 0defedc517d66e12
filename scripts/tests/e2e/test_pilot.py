# SPDX-License-Identifier: Apache-2.0
"""A pilot on real servers: `plan` runs it where nothing earlier tells the spread, and only there."""

from pathlib import Path

import pytest

from steelyard.errors import Exit
from steelyard.gate.power import FEWEST

from .driver import call, only_session

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("host")]

EXPERIMENT = """\
steelyard: 1
name: tiny
title: A small session on real servers
question: How much do starts vary?
workload: ping
procedure: start-up
factors:
  initial_heap: {levels: [32m, 256m]}
deployment: {total_heap: 256m}
load: {users: 1, request_timeout: 2m}
metrics: {primary: start_rss}
design: {blocks: 6, repeats: 1}
"""


def test_plan_runs_a_pilot_where_nothing_tells_the_spread(tmp_path: Path) -> None:
    path = tmp_path / "tiny.yaml"
    path.write_text(EXPERIMENT, encoding="utf-8")
    out = tmp_path / "results"
    arguments = ("plan", str(path), "--out", str(out))
    unknown = "unknown: no earlier session on this host"
    assert unknown in call(*arguments).stdout
    told = call(*arguments, "--pilot")
    assert told.returncode == Exit.OK, told.stderr
    pilot = only_session(out)
    session = pilot.session()
    assert [arm.levels for arm in session.arms] == [{"side": "one"}, {"side": "other"}]
    assert len(pilot.trials()) >= 2 * FEWEST
    assert f"pilot: {FEWEST} pairs of equal arms" in told.stderr
    if pilot.analysis().blocks_complete == FEWEST:  # what stood still is void, and tells nothing
        detects = told.stdout.partition("Will detect")[2].partition("Schedule")[0]
        assert f"by the spread seen and its upper 95 % bound, from {session.id} ({FEWEST} blocks)" in detects
        assert call(*arguments, "--pilot").stderr == ""
        assert len(list(out.glob("*/session.json"))) == 1
