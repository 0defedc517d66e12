# SPDX-License-Identifier: Apache-2.0
"""Observers as they run in pods, followed and told by commands as `kubectl logs` and `kubectl exec` are."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
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
from steelyard.processes import Children
from steelyard.sampling import nodes, streams
from steelyard.sampling.columns import COLUMNS
from steelyard.sampling.output import boot_id
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

    with Children() as children:
        found = Streams(tmp_path / "trial", children, folder)
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
    monkeypatch.setattr(streams, "HEARD", math.inf)
    asked = time.time()
    home.look()

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
    monkeypatch.setattr(streams, "_AGAIN", TINY)
    pod = pods("injector-1", "injector")
    home.watch({pod.name: pod.reached()})
    until(home, lambda: sampled(tmp_path, pod.name) >= 2)
    pod.away.touch()
    for connection in home.connections():
        connection.signal(9)
    lines = [json.dumps({"epochMillis": 1000 * n, "requests": n}) for n in range(3)]
    (pod.observed / "health.jsonl").write_text("\n".join([*lines, '{"cut']), encoding="utf-8")
    (pod.observed / "ready").touch()
    home.tell(pod.name, "touch start 17")
    read = sampled(tmp_path, pod.name)
    logs = tmp_path / "trial" / "logs"
    until(home, lambda: all((logs / f"injector-1-{what}-4.log").exists() for what in ("stream", "words")))
    folder = tmp_path / "trial/load/injector-1"
    assert sampled(tmp_path, pod.name) == read
    assert not (pod.observed / "start").exists()
    pod.away.unlink()
    until(home, lambda: (folder / "ready").exists() and (pod.observed / "start").exists())
    assert (pod.observed / "start").read_text(encoding="utf-8") == "17"
    until(home, lambda: sampled(tmp_path, pod.name) >= read + 3)
    home.last(math.inf)
    home.finish()
    assert (folder / "health.jsonl").read_text(encoding="utf-8").splitlines() == lines
    series = samples(tmp_path).processes[pod.name, "user_s"]
    # By what was told, and not by the time between two: an observer may come late to a sample.
    rows = [line.split(",") for line in pod.log.read_text(encoding="utf-8").splitlines()]
    told = [row for row in rows if row[1:4:2] == ["processes", "component"]]
    assert series.t.size == len(told), "nothing is lost"
    assert len(set(series.t)) == series.t.size, "nothing counts twice"


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
    """A stream that a test writes."""

    def __init__(self, folder: Path, home: Streams) -> None:
        self.path = folder / "written.log"
        self.path.touch()
        self.home = home
        self.about: dict[str, Any] = {"boot": boot_id(), "epoch": 1.0, "columns": COLUMNS}
        home.watch(
            {"server-1": Observer("n", "i", ["tail", "-n", "+1", "-f", str(self.path)], ["sleep", "600"])}
        )

    def say(self, *lines: str) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in (f"1,about,{json.dumps(self.about)}", *lines))
        wait_until(self.home.poll, "an error")


def test_lines_that_are_missing_are_noticed(tmp_path: Path, home: Streams) -> None:
    with pytest.raises(StreamLost, match="2 lines of the observer of server-1 were lost"):
        Written(tmp_path, home).say(
            "2,notes,1.0,component,a", "error: connection lost", "5,notes,1.0,component,b"
        )


def test_an_observer_of_another_version_is_refused(tmp_path: Path, home: Streams) -> None:
    written = Written(tmp_path, home)
    written.about["columns"] = {**COLUMNS, "host": "epoch"}
    with pytest.raises(StreamLost, match="of another version"):
        written.say()


def test_silence_ends_a_trial(tmp_path: Path, home: Streams, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "LOST", 0.5)
    with pytest.raises(StreamLost, match="nothing was heard of the observer of server-1"):
        Written(tmp_path, home).say()


def host(seconds: int, used: float, own: float) -> tuple[list[list[float]], list[tuple[float, float]]]:
    """What an observer tells that began at 100 s: the machine uses so many CPUs, its component so many of them."""
    rows = [[100.0 + s, 7.0 + s, used * s, 0.0, (2 - used) * s, (used - own) * s] for s in range(seconds)]
    return rows, [(100.0 + s, own * s) for s in range(seconds)]


def test_cpu_of_others_is_what_no_observer_watches(tmp_path: Path) -> None:
    """1.5 CPUs are used: 0.9 by one component, 0.5 by another whose observer came later and told less."""
    later, watched = host(6, 1.5, 0.5)
    second = ([[t + 3, *rest] for t, *rest in later], [(t + 3, cpu) for t, cpu in watched])
    machine = nodes.Machine()
    machine.observers += [host(10, 1.5, 0.9), second]
    machine.nodes |= {"b", "a"}
    machine.components += ["server-1", "server-2"]
    nodes.write_nodes(tmp_path, [machine, nodes.Machine()])
    found = Samples.load(tmp_path)
    (one,) = found.machines
    assert (one.name, one.components, one.clock) == ("a+b", ("server-1", "server-2"), None)
    assert found.other_cpu(103, 108, one) == pytest.approx(0.1 * 5)
    assert found.other_cpu(100, 103, one) == pytest.approx(0.6 * 3), "what is not watched yet is others'"
    assert not found.host


def test_a_close_reading_of_a_clock_helps_the_wide_ones_around_it() -> None:
    machine = nodes.Machine(readings=[(100.0, ClockOffset(-0.2, 0.3)), (110.0, ClockOffset(-0.01, 0.02))])
    assert machine.clock == pytest.approx((-0.015, 0.025)), "10 s at 0.5 ms/s"
    machine.readings.append((1110.0, ClockOffset(-0.2, 0.2)))
    assert machine.clock == pytest.approx((-0.2, 0.2)), "in 1000 s it may be anywhere there"
    machine.readings.append((111.0, ClockOffset(0.5, 0.6)))
    clock = machine.clock
    assert clock is not None
    assert clock.high >= 0.49, "readings that exclude each other: it was set"
