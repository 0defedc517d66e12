# SPDX-License-Identifier: Apache-2.0
"""Observers as they run in pods, followed and steered by HTTP that may be broken at any time."""

import http.client
import io
import itertools
import json
import math
import os
import signal
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from builders import make_window
from pods import Pod
from waiting import TINY, wait_until

from steelyard.measure.clocks import clock_step, longest_gap
from steelyard.measure.host import steal_share
from steelyard.measure.samples import ClockOffset, Samples
from steelyard.process_tree import process_tree
from steelyard.sampling import config, nodes, streams
from steelyard.sampling.columns import COLUMNS
from steelyard.sampling.procfs import boot_id
from steelyard.sampling.smaps import parse_smaps
from steelyard.sampling.streams import Observer, StreamLost, Streams


@pytest.fixture
def pods(tmp_path: Path) -> Iterator[Callable[..., Pod]]:
    with ExitStack() as cleanup:

        def make(name: str, role: str = "server") -> Pod:
            pod = Pod(tmp_path / name, name, role)
            cleanup.callback(pod.end)
            return pod

        yield make


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Streams]:
    """The harness's side of a trial."""

    def folder(name: str) -> Path:
        path = tmp_path / "trial" / "load" / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    found = Streams(tmp_path / "trial", folder)
    yield found
    found.close()


def until(home: Streams, reached: Callable[[], object]) -> None:
    def polled() -> object:
        home.poll()
        return reached()

    wait_until(polled, "what the observers tell")


def samples(tmp_path: Path) -> Samples:
    return Samples.load(tmp_path / "trial" / "samples")


def sampled(tmp_path: Path, name: str) -> int:
    series = samples(tmp_path).processes.get((name, "user_s"))
    return series.t.size if series is not None else 0


def collected(tmp_path: Path, name: str) -> float:
    """CPU of the collector's threads so far, which is told thread by thread."""
    series = samples(tmp_path).threads.get((name, "gc", "cpu_s"))
    return float(series.v[-1]) if series is not None and series.t.size else 0.0


def test_several_pods_leave_what_one_sampler_leaves(
    tmp_path: Path, pods: Callable[..., Pod], home: Streams, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.watch({name: pods(name).reached() for name in ("server-1", "server-2")})
    until(home, lambda: min(sampled(tmp_path, f"server-{n}") for n in (1, 2)) >= 2)
    monkeypatch.setattr(streams, "ACKNOWLEDGED", math.inf)
    asked = time.time()
    home.read_everything()

    def dear_since(time: float) -> bool:
        return all(samples(tmp_path).processes[f"server-{n}", "pss"].t[-1] >= time for n in (1, 2))

    until(home, lambda: dear_since(asked))
    until(home, lambda: min(sampled(tmp_path, f"server-{n}") for n in (1, 2)) >= 5)
    until(home, lambda: min(collected(tmp_path, f"server-{n}") for n in (1, 2)) > 0.3)
    home.last(math.inf)
    home.finish()
    found = samples(tmp_path)
    for name in ("server-1", "server-2"):
        assert found.processes[name, "rss"].v[-1] > 64 << 20
        assert found.threads[name, "gc", "cpu_s"].v[-1] > 0.3
        assert found.counters[name, "ping", "requests"].v[-1] >= 20
        assert (f"observer:{name}", "rss") in found.processes
    (machine,) = found.machines
    assert (machine.name, set(machine.components)) == ("node-1", {"server-1", "server-2"})
    assert machine.clock is not None
    assert machine.clock.low <= 0 <= machine.clock.high, "both read one clock"
    start, end = machine.host["monotonic",].t[[0, -1]]
    assert steal_share.read(make_window(found, start, end)) is not None
    assert clock_step(found, start, end) == pytest.approx(0, abs=10), (
        "read one after the other, with stalls between them"
    )
    assert longest_gap(found, ["server-1", "server-2"], start, end) is not None
    assert not (tmp_path / "trial/samples/host.csv").exists()
    costs = json.loads((tmp_path / "trial/samples/sampler.json").read_text(encoding="utf-8"))
    assert costs.keys() == {"server-1", "server-2"}


def test_nothing_is_lost_while_nothing_gets_through(
    tmp_path: Path, pods: Callable[..., Pod], home: Streams, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "_RETRY", TINY)
    pod = pods("injector-1", "injector")
    broken: list[http.client.HTTPConnection] = []

    def connect(timeout: float) -> http.client.HTTPConnection:
        if pod.away.exists():
            broken.append(http.client.HTTPConnection("127.0.0.1", 1))
        return pod.connect(timeout)

    home.watch({pod.name: Observer("node-1", "one", connect, "/secret")})
    until(home, lambda: sampled(tmp_path, pod.name) >= 2)
    pod.away.touch()
    pod.cut()
    lines = [json.dumps({"epochMillis": 1000 * n, "requests": n}) for n in range(3)]
    (pod.observed / "health.jsonl").write_text("\n".join([*lines, '{"cut']), encoding="utf-8")
    (pod.observed / "ready").touch()
    home.write_file(pod.name, "start", "17")
    until(home, lambda: len(broken) > 4)
    read = sampled(tmp_path, pod.name)
    folder = tmp_path / "trial/load/injector-1"
    assert not (pod.observed / "start").exists()
    pod.away.unlink()
    until(home, lambda: (folder / "ready").exists() and (pod.observed / "start").exists())
    assert (pod.observed / "start").read_text(encoding="utf-8") == "17"
    until(home, lambda: sampled(tmp_path, pod.name) >= read + 3)
    home.last(math.inf)
    home.finish()
    assert (folder / "health.jsonl").read_text(encoding="utf-8").splitlines() == lines
    series = samples(tmp_path).processes[pod.name, "user_s"]
    # By what was written, and not by the time between two: an observer may come late to a sample.
    rows = [line.split(",") for line in (pod.folder / "rows").read_text(encoding="utf-8").splitlines()]
    written = [row for row in rows if row[0:3:2] == ["processes", "component"]]
    assert series.t.size == len(written), "nothing is lost"
    assert len(set(series.t)) == series.t.size, "nothing counts twice"


def test_an_observer_tells_what_is_asked_of_its_component(tmp_path: Path, pods: Callable[..., Pod]) -> None:
    before = time.time()
    pod = pods("server-1")
    begun = time.time()
    (pod.observed / "folder").mkdir()
    (pod.observed / "folder" / "gc.log").write_text("paused", encoding="utf-8")
    with tarfile.open(fileobj=io.BytesIO(pod.get("/files"))) as archive:
        files = {one.name: archive.extractfile(one) for one in archive if one.isfile()}
        assert [(name, file and file.read()) for name, file in files.items()] == [
            ("folder/gc.log", b"paused")
        ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(config.MARKER, pod.mark)
        with subprocess.Popen(["sleep", "600"]) as later:
            try:
                assert before - 60 < float(pod.get("/began")) < begun + 60, "of two the first one"
                areas = parse_smaps(pod.get("/smaps").decode())
                assert sum(area.resident for area in areas) > 64 << 10, "of two the largest one"
            finally:
                later.kill()


def test_an_observer_answers_nobody_without_its_token(pods: Callable[..., Pod]) -> None:
    pod = pods("server-1")
    requests = [
        ("GET", "rows/0"),
        ("GET", "files"),
        ("GET", "smaps"),
        ("POST", "last"),
        ("POST", "files/start"),
    ]
    for token, (method, path) in itertools.product(("", "/other", "/secret2", "/secret%2F"), requests):
        assert pod.request(method, f"{token}/{path}").status == HTTPStatus.NOT_FOUND
    assert not (pod.observed / "start").exists()


DAEMON = """
import os, subprocess, sys
if os.fork() == 0:
    os.setsid()
    daemon = subprocess.Popen(sys.argv[1:])
    os.write(int(os.environ["TELL"]), b"%d" % daemon.pid)
    os._exit(0)
os.wait()
sys.stdout = None
os.read(int(os.environ["STAY"]), 1)
"""


@pytest.mark.parametrize("way", ["a thread", "a daemon"])
def test_an_observer_watches_all_that_the_main_process_has_started(
    tmp_path: Path, home: Streams, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a pod, too, with nothing to be told of them: one that another thread started, and one that left the session
    of a parent that has ended."""
    launcher = [sys.executable, str(Path(__file__).parents[1] / "fixtures" / "servers" / "launcher.py")]
    if way == "a daemon":
        launcher = [sys.executable, "-c", DAEMON]
    stay, stays = os.pipe()
    told, tell = os.pipe()
    for name, end in (("STAY", stay), ("TELL", tell)):
        os.set_inheritable(end, True)
        monkeypatch.setenv(name, str(end))
    popen = subprocess.Popen
    monkeypatch.setattr(
        subprocess, "Popen", lambda *words, **more: popen(*words, **more, pass_fds=(stay, tell))
    )
    pod = Pod(tmp_path / "server-1", "server-1", launcher=launcher)
    monkeypatch.setattr(subprocess, "Popen", popen)
    try:
        home.watch({"server-1": pod.reached()})

        def counted() -> float:
            series = samples(tmp_path).processes.get(("server-1", "processes"))
            return float(series.v[-1]) if series is not None else 0.0

        until(home, lambda: counted() == 2)
        until(home, lambda: collected(tmp_path, "server-1") > 0.3)
        found = samples(tmp_path)
        assert set(found.process_names()) == {"server-1", "observer:server-1"}, "one row for both"
        assert found.processes["server-1", "rss"].v[-1] > 64 << 20
    finally:
        if way == "a daemon":
            os.kill(int(os.read(told, 16)), signal.SIGKILL)
        else:
            for pid in process_tree(pod.component.pid)[1:]:
                os.kill(pid, signal.SIGKILL)
        pod.end()
        for end in (stay, stays, told, tell):
            os.close(end)


def test_a_restarted_observer_is_not_taken_for_the_same(
    tmp_path: Path, pods: Callable[..., Pod], home: Streams
) -> None:
    pod = pods("server-1")
    home.watch({pod.name: pod.reached()})
    until(home, lambda: sampled(tmp_path, pod.name) >= 1)
    pod.observer.kill()
    pod.observer.wait()
    pod.observer = pod.start()
    with pytest.raises(StreamLost, match="the observer of server-1 was restarted"):
        until(home, lambda: False)


def test_a_component_that_is_started_again_has_another_observer(
    tmp_path: Path, pods: Callable[..., Pod], home: Streams
) -> None:
    first = pods("server-1")
    home.watch({"server-1": first.reached("first")})
    until(home, lambda: sampled(tmp_path, "server-1") >= 1)
    first.end()
    home.watch({})
    second = Pod(tmp_path / "again", "server-1")
    try:
        home.watch({"server-1": second.reached("second")})
        began = time.time()
        until(home, lambda: samples(tmp_path).processes["server-1", "user_s"].t[-1] > began)
        home.last(math.inf)
    finally:
        second.end()
    home.finish()
    assert [one.components for one in samples(tmp_path).machines] == [("server-1",)]


class Written:
    """An observer whose answers a test writes: each connection gets the next one, and is closed after it."""

    def __init__(self, home: Streams, *answers: bytes) -> None:
        self.home = home
        self.asked: list[str] = []
        written = self

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                written.asked.append(self.path)
                self.send_response(200)
                self.send_header("Observer", "1.0")
                self.end_headers()
                if len(written.asked) <= len(answers):
                    self.wfile.write(answers[len(written.asked) - 1])

            def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        home.watch({"server-1": Observer("n", "i", self.connect)})

    def connect(self, timeout: float) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout)


ABOUT = {"boot": boot_id(), "columns": COLUMNS}


def introduced(about: Mapping[str, Any] = ABOUT) -> bytes:
    return f"about,{json.dumps(about)}\n".encode()


def test_a_torn_row_is_asked_for_again(
    tmp_path: Path, home: Streams, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "_RETRY", TINY)
    first = introduced() + b"notes,1.0,component,a\n"
    written = Written(home, first + b"notes,2.0,comp", b"notes,2.0,component,b\n")
    notes = tmp_path / "trial/samples/notes.csv"
    until(home, lambda: len(notes.read_text(encoding="utf-8").splitlines()) == 3)
    assert written.asked[:2] == ["/rows/0", f"/rows/{len(first)}"]
    assert notes.read_text(encoding="utf-8").splitlines()[1:] == ["1.0,server-1,a", "2.0,server-1,b"]


def test_an_observer_of_another_version_is_refused(home: Streams) -> None:
    Written(home, introduced({**ABOUT, "columns": {**COLUMNS, "host": "epoch"}}))
    with pytest.raises(StreamLost, match="of another version"):
        until(home, lambda: False)


def test_silence_ends_a_trial(home: Streams, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "LOST", 0.5)
    Written(home, introduced())
    with pytest.raises(StreamLost, match="nothing was heard of the observer of server-1"):
        until(home, lambda: False)


def host(seconds: int, used: float, own: float) -> tuple[list[list[float]], list[tuple[float, float]]]:
    """What an observer tells that began at 100 s: the machine uses so many CPUs, its component so many of them."""
    rows = [[100.0 + s, 7.0 + s, used * s, 0.0, (2 - used) * s, (used - own) * s] for s in range(seconds)]
    return rows, [(100.0 + s, own * s) for s in range(seconds)]


def test_cpu_of_others_is_what_no_observer_watches(tmp_path: Path) -> None:
    """1.5 CPUs are used: 0.9 by one component, 0.5 by another whose observer came later and told less."""
    later, watched = host(6, 1.5, 0.5)
    second = ([[t + 3, *rest] for t, *rest in later], [(t + 3, cpu) for t, cpu in watched])
    machine = nodes.MachineSamples()
    machine.observers += [host(10, 1.5, 0.9), second]
    machine.nodes |= {"b", "a"}
    machine.components += ["server-1", "server-2"]
    nodes.write_nodes(tmp_path, [machine, nodes.MachineSamples()])
    found = Samples.load(tmp_path)
    (one,) = found.machines
    assert (one.name, one.components, one.clock) == ("a+b", ("server-1", "server-2"), None)
    assert found.other_cpu(103, 108, one) == pytest.approx(0.1 * 5)
    assert found.other_cpu(100, 103, one) == pytest.approx(0.6 * 3), "what is not watched yet is others'"
    assert not found.host


def test_a_close_reading_of_a_clock_helps_the_wide_ones_around_it() -> None:
    machine = nodes.MachineSamples(
        readings=[(100.0, ClockOffset(-0.2, 0.3)), (110.0, ClockOffset(-0.01, 0.02))]
    )
    assert machine.clock == pytest.approx((-0.015, 0.025)), "10 s at 0.5 ms/s"
    machine.readings.append((1110.0, ClockOffset(-0.2, 0.2)))
    assert machine.clock == pytest.approx((-0.2, 0.2)), "in 1000 s it may be anywhere there"
    machine.readings.append((111.0, ClockOffset(0.5, 0.6)))
    clock = machine.clock
    assert clock is not None
    assert clock.high >= 0.49, "readings that exclude each other: it was set"
