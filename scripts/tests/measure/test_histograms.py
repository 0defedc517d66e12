# SPDX-License-Identifier: Apache-2.0
"""Interval logs written by the library's own writer are read, merged and cut to a window."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogWriter

from steelyard.measure.histograms import read_logs

START = 1_700_000_000.0
MS = 1_000_000


def write_log(path: Path, seconds: list[tuple[str, list[int]]]) -> Path:
    """One interval a second: (tag, latencies in ns)."""
    with path.open("w", encoding="utf-8") as file:
        writer = HistogramLogWriter(file)
        writer.output_log_format_version()
        file.write(f"#[StartTime: {START:.3f} (seconds since epoch)]\n")
        writer.output_legend()
        for second, (tag, values) in enumerate(seconds):
            histogram = HdrHistogram(1, 120_000_000_000, 3)
            for value in values:
                histogram.record_value(value)
            histogram.set_start_time_stamp((START + second) * 1000)
            histogram.set_end_time_stamp((START + second + 1) * 1000)
            file.write(f"Tag={tag},")  # as the Java writer does
            writer.output_interval_histogram(histogram)
    return path


def test_injectors_are_merged_and_errors_counted_apart(tmp_path: Path) -> None:
    one = write_log(tmp_path / "1.hlog", [("ping", [1 * MS] * 600), ("ping", [2 * MS] * 600)])
    two = write_log(tmp_path / "2.hlog", [("ping", [3 * MS] * 300), ("ping:error", [9 * MS] * 4)])
    recorded = read_logs([one, two])
    latency = recorded.latency()["ping"]
    assert (latency.requests, latency.errors, recorded.requests) == (1500, 4, 1504)
    assert latency.mean == pytest.approx((600 * 1 + 600 * 2 + 300 * 3) / 1500, rel=0.002)
    assert latency.p50 == pytest.approx(2.0, rel=0.002)
    assert latency.max == pytest.approx(3.0, rel=0.002)


def test_only_intervals_of_the_window_count(tmp_path: Path) -> None:
    log = write_log(tmp_path / "1.hlog", [("ping", [MS] * n) for n in (10, 20, 40, 80)])
    recorded = read_logs([log], START + 1.0, START + 3.0)
    assert recorded.requests == 60


def test_quantiles_need_enough_requests(tmp_path: Path) -> None:
    few = read_logs([write_log(tmp_path / "few.hlog", [("ping", [MS] * 999)])]).latency()["all"]
    many = read_logs([write_log(tmp_path / "many.hlog", [("ping", [MS] * 1000)])]).latency()["all"]
    assert few.p90 is not None
    assert few.p99 is None
    assert many.p99 == pytest.approx(1.0, rel=0.002)
    assert many.p999 is None


def test_no_log_is_no_request() -> None:
    assert read_logs([]).requests == 0
    assert read_logs([]).latency()["all"].mean is None


def test_a_log_that_is_cut_off_anywhere_gives_its_whole_lines_and_says_so(tmp_path: Path) -> None:
    """As an injector that is killed while it writes leaves it."""
    whole = write_log(tmp_path / "1.hlog", [("ping", [MS] * n) for n in (10, 20, 40, 80)]).read_bytes()
    torn, ends = tmp_path / "torn.hlog", []
    for cut in range(0, len(whole), 3):
        torn.write_bytes(whole[:cut])
        recorded = read_logs([torn])
        ends.append(recorded.requests)
        assert bool(recorded.damaged) == (cut == 0 or whole[cut - 1 : cut] != b"\n")
        assert recorded.latency()["all"].requests == recorded.requests
    assert set(ends) == {0, 10, 30, 70}
    torn.write_bytes(whole[:100] + b"\xff" + whole[100:])
    assert read_logs([torn, tmp_path / "nobody.hlog"]).damaged == [
        f"{tmp_path.name}/{name} cannot be read" for name in ("torn.hlog", "nobody.hlog")
    ]


def test_figures_are_those_of_the_library(tmp_path: Path) -> None:
    """Slots of every width, from one count to many, and runs of empty ones."""
    random = np.random.default_rng(7)
    values = [0, 17, 2_047, 2_048, 4_096, *(int(value) for value in 10 ** random.uniform(0, 11, 3_000))]
    read = read_logs([write_log(tmp_path / "1.hlog", [("ping", values * 5)])])
    found = read.latency()["ping"]
    theirs = HdrHistogram(1, 120_000_000_000, 3)
    for value in values:
        theirs.record_value(value, 5)
    assert found.requests == theirs.get_total_count()
    assert found.max == theirs.get_max_value() / MS
    assert found.mean == pytest.approx(theirs.get_mean_value() / MS, rel=1e-12)
    ordered = sorted(values * 5)
    for share, quantile in (("50", found.p50), ("90", found.p90), ("99", found.p99), ("99.9", found.p999)):
        rank = math.ceil(Fraction(share) * len(ordered) / 100)
        assert quantile == theirs.get_highest_equivalent_value(ordered[rank - 1]) / MS


def test_a_quantile_has_the_rank_that_the_injector_gives_it(tmp_path: Path) -> None:
    """The ceiling of 1,049.4: its summary.json and the report tell one p99. The port for Python rounds down there."""
    read = read_logs([write_log(tmp_path / "1.hlog", [("ping", list(range(1060)))])])
    assert read.latency()["ping"].p99 == 1049 / MS
    whole = read_logs([write_log(tmp_path / "2.hlog", [("ping", list(range(1000)))])])
    assert (whole.latency()["ping"].p50, whole.latency()["ping"].p99) == (499 / MS, 989 / MS)


def test_a_damaged_line_is_told_and_what_stands_before_it_counts(tmp_path: Path) -> None:
    log = write_log(tmp_path / "1.hlog", [("ping", [MS, 3 * MS] * n) for n in (5, 10)])
    whole = log.read_bytes()
    second = whole.rindex(b"Tag=")
    told = 0
    for at in range(second, len(whole) - 1):
        log.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        recorded = read_logs([log])
        told += bool(recorded.damaged)
        assert recorded.requests in {10, 30}
        assert recorded.requests == 30 or recorded.damaged
    # All but other digits of the three times, and another letter of the tag.
    assert told >= len(whole) - second - len("ping") - 3 * len("1700000000.000")
