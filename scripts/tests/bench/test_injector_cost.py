# SPDX-License-Identifier: Apache-2.0
"""`bench/injector_cost.py`: what it makes of its rounds, and that a round that fails takes no other with it."""

from itertools import count
from pathlib import Path

import pytest
from injector_barrier import Start, spread
from injector_clients import OpenRound, Round, RoundError
from injector_profile import count_samples, owner_of
from injector_table import Plan, Results, measure, tables
from injector_target import NGINX, Reply, ServerCounts, parse_server_counts

TINY = Reply()
SMALL = Reply(2048, path="/2-kib")
LARGE = Reply(2**20, is_read=False, path="/1-mib")
CLOSED = Reply(per_connection=1, path="/closed-after-1")
LOOP = "start_thread;io/netty/channel/SingleThreadIoEventLoop.run"


class FakeBench:
    """wrk at 100,000 and the injector at 50,000 requests per CPU-second; nginx sees what both count.

    Args:
        broken: path of a reply for which the injector fails
        lost: requests of each round that nginx does not see
        stacks: what the profiler writes, by path of the reply
    """

    def __init__(self, broken: str = "", lost: int = 0, stacks: dict[str, str] | None = None) -> None:
        self.broken, self.lost, self.stacks = broken, lost, stacks or {}
        self.requests, self.connections = 0, 0
        self.starts = count(1)

    def client_round(self, reply: Reply, cpu_seconds: float) -> Round:
        self.requests += 200_000 - self.lost
        self.connections += 200_000 // reply.per_connection if reply.per_connection else 48
        return Round(100_000, cpu_seconds, 2.0, 200_000)

    def wrk(self, reply: Reply) -> Round:
        return self.client_round(reply, 1.0)

    def injector(self, reply: Reply, stacks: Path | None = None) -> Round:
        if reply.path == self.broken:
            raise RoundError("the injector failed (1)")
        if stacks:
            stacks.write_text(self.stacks[reply.path], encoding="utf-8")
        return self.client_round(reply, 2.0 if reply.path == "/ping" else 4.0)

    def open_round(self, _reply: Reply, _rate: int, _stacks: Path | None = None) -> OpenRound:
        return OpenRound(
            cpu_share=0.115, cpu_seconds_per_request=57e-6, late=0, dropped=0, median_millis=0.18
        )

    def floor(self, _reply: Reply, _rate: int) -> float | None:
        return 51e-6

    def start_together(self, _injectors: int) -> Start:
        return Start(due=0.1 * next(self.starts), answered=20.0)

    def server_counts(self) -> ServerCounts:
        self.requests += 1
        self.connections += 1
        return ServerCounts(self.connections, self.requests)


def measured(plan: Plan, bench: FakeBench, folder: Path) -> str:
    results = Results()
    measure(plan, bench, folder, results)
    return "\n".join(tables(plan, results))


def test_the_tables_have_rates_sizes_counts_the_open_model_and_starts(tmp_path: Path) -> None:
    plan = Plan(3, [TINY, LARGE, CLOSED], [(TINY, 2000)], injectors=[2], starts=3)
    text = measured(plan, FakeBench(), tmp_path)
    assert "| 5 bytes | 100,000 | 50,000 | 0.50 | 0.50, 0.50, 0.50 |" in text
    assert "| 1 MiB, not read | 10.0 | 0.01 | 50,000.0 | 40.0 | 0.04 | 50,000.0 |" in text
    assert "| 5 bytes, closed after 1 | injector | 600,000 | 600,000 | 0.000% | 1.0 |" in text
    assert "| 2,000/s, 5 bytes | 11.5% | 10.2% | 0, 0 | 0.18 ms |" in text
    assert "| 2 | 3 | 0.20 ms | 0.30 ms | 20.00 ms | 20.00 ms |" in text
    assert "failed" not in text


def test_a_round_that_fails_is_named_and_leaves_the_other_figures(tmp_path: Path) -> None:
    text = measured(Plan(2, [TINY, CLOSED]), FakeBench(broken=CLOSED.path), tmp_path)
    assert "| 5 bytes | 100,000 | 50,000 | 0.50 | 0.50, 0.50 |" in text
    assert "| 5 bytes, closed after 1 | 100,000 | - | - | - |" in text
    assert "- failed: round 2, 5 bytes, closed after 1, injector: the injector failed (1)" in text


def test_counts_that_are_apart_are_marked(tmp_path: Path) -> None:
    assert "0.101% (above 0.1%)" in measured(Plan(1, [TINY]), FakeBench(lost=202), tmp_path)
    assert "above" not in measured(Plan(1, [TINY]), FakeBench(lost=20), tmp_path)


def test_profiles_are_told_by_owner_by_function_and_by_what_grew(tmp_path: Path) -> None:
    send = f"{LOOP};io/netty/channel/Channel.write;__GI___send"
    match = f"{LOOP};io/gatling/Check.check;java/util/regex/Pattern$Slice.match"
    plan = Plan(1, [TINY, SMALL], profiled=[TINY, SMALL])
    stacks = {TINY.path: f"{send} 90\n{match} 10", SMALL.path: f"{send} 45\n{match} 45\nGC;mark 10"}
    text = measured(plan, FakeBench(stacks=stacks), tmp_path)
    assert "| system calls | 90.0% | 90.0% | 18.00 |" in text
    assert "| Gatling, Scala | 50.0% | 50.0% | 18.00 |" in text
    assert "| `java/util/regex/Pattern$Slice.match` | `io/gatling/Check.check` | 50.0% |" in text
    assert "| `java/util/regex/Pattern$Slice.match` | `io/gatling/Check.check` | +16.00 | 18.00 |" in text
    assert "| all of a request | | +20.00 | 40.00 |" in text


@pytest.mark.parametrize("frame", ["__GI___send", "__libc_recv", "__connect", "__GI___close", "epoll_wait"])
def test_system_calls_are_known_by_the_names_of_glibc(frame: str) -> None:
    assert owner_of(frame) == "system calls"


def test_stacks_of_other_threads_belong_to_nobody() -> None:
    counts = count_samples(f"GC;mark 10\n{LOOP};dev/steelyard/A.b 30")
    assert (counts.process, counts.loop) == (40, 30)


@pytest.mark.parametrize("size", [5, 2048, 2**16])
def test_nginx_answers_each_reply_with_its_bytes(size: int, tmp_path: Path) -> None:
    location = Reply(size, per_connection=100).location(tmp_path)
    assert "keepalive_requests 100;" in location
    if size > 16_000:
        assert (tmp_path / f"{size}.txt").stat().st_size == size
    else:
        assert len(location.split('"')[1].replace("\\n", "\n")) == size
    assert "{replies}" in NGINX


def test_the_page_of_nginx_counts_the_question_itself() -> None:
    page = "Active connections: 2 \nserver accepts handled requests\n {0} {0} {1} \nReading: 0 Writing: 1 Waiting: 1 \n"
    before, after = (parse_server_counts(page.format(*counts)) for counts in ((10, 20), (59, 1021)))
    assert after.since(before) == ServerCounts(connections=48, requests=1000)
    with pytest.raises(RoundError, match="cannot be read"):
        parse_server_counts("404")


def summary(arrived: float, latency: float, requests: int = 1) -> dict[str, object]:
    operation = {"requests": requests, "errors": 0, "latencyMillis": {"max": latency}}
    return {"operations": {"ping": operation}, "firstAnswers": {"ping": arrived}}


def test_injectors_are_as_far_apart_as_their_first_requests() -> None:
    start = spread([summary(1030.5, 30.0), summary(1050.75, 50.0)])
    assert start.due == pytest.approx(0.25)
    assert start.answered == pytest.approx(20.25)
    with pytest.raises(RoundError, match="2 requests"):
        spread([summary(1030.5, 30.0), summary(1050.75, 50.0, requests=2)])
