# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from steelyard.sampling.output import text
from steelyard.session.context import LiveRate

HEAD = "epoch,process,operation,requests,errors,service_s\n"


def test_each_servers_samples_have_times_of_their_own(tmp_path: Path) -> None:
    """As the sampler writes them: servers answer at different moments of a second."""
    path = tmp_path / "counters.csv"
    live = LiveRate(path)
    assert live.read() is None
    rows = [HEAD]
    for second in range(4):
        rows += [f"{100 + second}.10,a,{name},{40 * second},0,0\n" for name in ("ping", "pong")]
        rows += [f"{100 + second}.30,b,ping,{20 * second},0,0\n"]
    path.write_text("".join(rows), encoding="utf-8")
    assert live.read() == pytest.approx(100.0)
    assert live.read() is None


def test_a_line_counts_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "counters.csv"
    live = LiveRate(path)
    path.write_text(HEAD + "100.0,a,ping,0,0,0\n100.0,a,pong,0,0,0\n", encoding="utf-8")
    assert live.read() is None  # a single sample has no rate
    with path.open("a", encoding="utf-8") as file:
        file.write("101.0,a,ping,50,0,0\n101.0,a,pong,70,0,0\n103.0,a,pi")
        file.flush()
        assert live.read() == 120.0
        file.write("ng,100,0,0\n103.0,a,pong,140,0,0\n103.0,a,internal-miles,9,0,0\n")
        file.flush()
        assert live.read() == 60.0  # (240 - 120) requests in 2 s
        assert live.read() is None


def test_a_server_that_starts_again_shows_nothing_below_zero(tmp_path: Path) -> None:
    path = tmp_path / "counters.csv"
    live = LiveRate(path)
    rows = [HEAD, *(f"{100 + s},a,ping,{count},0,0\n" for s, count in enumerate((1000, 2000, 5, 105, 205)))]
    path.write_text("".join(rows[:3]), encoding="utf-8")
    assert live.read() == 1000.0
    path.write_text("".join(rows[:4]), encoding="utf-8")
    assert live.read() == 0.0
    path.write_text("".join(rows), encoding="utf-8")
    assert live.read() == 100.0


def test_an_operation_may_have_a_comma_and_what_is_no_row_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "counters.csv"
    live = LiveRate(path)
    names = [text("GET /a,b"), text('say "a", "b"'), "ping"]
    rows = [f"{100 + second}.0,a,{name},{10 * second},0,0\n" for second in range(2) for name in names]
    path.write_text("".join([HEAD, "\n", "100.5,a\n", "soon,a,ping,1,0,0\n", *rows]), encoding="utf-8")
    assert live.read() == 30.0
