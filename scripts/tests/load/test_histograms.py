# SPDX-License-Identifier: Apache-2.0
"""Interval logs written by the library's own writer are read, merged and cut to a window."""

from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogWriter

from steelyard.load.histograms import read_logs

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


def test_the_mean_is_that_of_the_library(tmp_path: Path) -> None:
    values = [17, 2_047, 2_048, 5_000, 123_456, 7 * MS, 90_000 * MS]
    recorded = read_logs([write_log(tmp_path / "1.hlog", [("ping", values * 3)])])
    mean = recorded.latency()["ping"].mean
    assert mean == pytest.approx(recorded.histograms["ping"].get_mean_value() / MS, rel=1e-12)
