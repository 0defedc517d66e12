# SPDX-License-Identifier: Apache-2.0
"""The sampler as it runs: a process of its own, over real processes."""

import csv
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from builders import make_component, make_window
from waiting import TINY, ended, fetch, is_running, wait_until

import steelyard
from steelyard.errors import Exit
from steelyard.measure.cpu import STALL_SHOWS, stall
from steelyard.measure.histograms import Recorded
from steelyard.measure.record import component_result
from steelyard.measure.samples import Samples
from steelyard.measure.series import Series
from steelyard.sampling.cgroup import ControlGroup

SCRIPTS = Path(steelyard.__file__).parents[1]
OBSERVED = Path(__file__).with_name("observed.py")
INTERVAL = 0.1
UNLIMITED = 1e9
"""Seconds for an answer: a machine that stands still for a while must not cost one."""


class Observed:
    """The process that is sampled."""

    def __init__(self) -> None:
        self.process = subprocess.Popen([sys.executable, str(OBSERVED)], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.port = int(self.process.stdout.readline())

    def entry(
        self, name: str = "server-1", path: str = "/bench/counters", role: str = "server"
    ) -> dict[str, Any]:
        url = f"http://127.0.0.1:{self.port}{path}"
        return {"name": name, "pid": self.process.pid, "role": role, "counters_url": url}


@pytest.fixture
def observed() -> Iterator[Observed]:
    it = Observed()
    yield it
    it.process.kill()
    it.process.wait()


class Running:
    """A sampler and its files."""

    def __init__(self, folder: Path) -> None:
        self.config = folder / "sampler.json"
        self.output = folder / "samples"
        self.process: subprocess.Popen[str] | None = None

    def configure(self, *processes: dict[str, Any], **more: Any) -> None:
        config = {"output": str(self.output), "interval": INTERVAL, "processes": processes} | more
        new = self.config.with_suffix(".new")
        new.write_text(json.dumps(config), encoding="utf-8")
        new.replace(self.config)

    def start(self, *processes: dict[str, Any], **more: Any) -> None:
        self.configure(*processes, **more)
        command = [sys.executable, "-m", "steelyard.sampling", str(self.config)]
        self.process = subprocess.Popen(command, cwd=SCRIPTS, stderr=subprocess.PIPE, text=True)

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        assert self.process
        self.process.send_signal(number)
        return self.end()

    def end(self) -> tuple[int, str]:
        assert self.process
        _, errors = self.process.communicate()
        return self.process.returncode, errors

    def until(self, reached: Callable[[Samples], object]) -> Samples:
        """Wait until the files show something; they are read while they are written."""
        assert self.process

        def enough() -> Samples | None:
            samples = Samples.load(self.output)
            return samples if reached(samples) else None

        found = wait_until(enough, lambda: f"more than {Samples.load(self.output)}", ended(self.process))
        assert found is not None
        return found

    def notes(self) -> list[str]:
        """What the sampler noticed so far."""
        path = self.output / "notes.csv"
        rows = path.read_text(encoding="utf-8").splitlines()[1:] if path.exists() else []
        return [f"{process}: {note}" for _, process, note in csv.reader(rows)]


@pytest.fixture
def sampler(tmp_path: Path) -> Iterator[Running]:
    running = Running(tmp_path)
    yield running
    if running.process and running.process.poll() is None:
        running.process.kill()
        running.process.wait()


def burnt(samples: Samples, group: str) -> float:
    series = samples.threads.get(("server-1", group, "cpu_s"))
    return float(series.v[-1]) if series else 0.0


def thread_used(pid: int, comm: str) -> float | None:
    """CPU seconds of the thread of a name; None when there is none."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # it has ended
            name, _, fields = (task / "stat").read_text(encoding="utf-8").partition("(")[2].rpartition(") ")
            if name == comm:
                return sum(map(int, fields.split()[11:13])) / os.sysconf("SC_CLK_TCK")
    return None


def test_threads_of_a_process_by_group(sampler: Running, observed: Observed) -> None:
    sampler.start(observed.entry())
    sampler.until(lambda s: burnt(s, "gc") >= 0.35 and burnt(s, "request") >= 0.2)
    pid = observed.process.pid
    wait_until(lambda: thread_used(pid, "Default Executo") is None, "the end of the request thread")
    ended = time.time()
    sampler.until(lambda s: s.host[("monotonic",)].t[-1] > ended + 3 * INTERVAL)
    assert sampler.stop() == (Exit.OK, "")
    samples = Samples.load(sampler.output)
    # The request thread has ended, and what it used is still there, once.
    assert 0.2 <= burnt(samples, "request") <= 0.7
    assert 0.35 <= burnt(samples, "gc") <= 0.7
    groups = {group: one for (_, group, column), one in samples.threads.items() if column == "cpu_s"}
    assert set(groups) == {"request", "jit", "gc", "network", "other"}
    process = samples.processes["server-1", "user_s"].v + samples.processes["server-1", "system_s"].v
    assert sum(one.v for one in groups.values()) == pytest.approx(process, abs=0.0101)


def test_the_first_sample_knows_the_threads(sampler: Running, observed: Observed) -> None:
    """A window may begin with it: what threads had used before must not look as if they used it in the first second."""
    wait_until(lambda: (thread_used(observed.process.pid, "GC Thread#0") or 0) >= 0.35, "what it burns")
    sampler.start(observed.entry())
    samples = sampler.until(lambda s: s.threads and s.threads["server-1", "gc", "cpu_s"].t.size >= 3)
    assert samples.threads["server-1", "gc", "cpu_s"].v[0] >= 0.3
    assert sampler.stop()[0] == Exit.OK


def test_how_long_threads_waited_for_a_cpu_is_read_where_a_window_begins_and_ends(
    sampler: Running, observed: Observed
) -> None:
    sampler.start(observed.entry())
    # A slow machine needs fewer samples for what it burns than the reading of waits has occasions.
    sampler.until(lambda s: burnt(s, "gc") >= 0.35 and s.threads["server-1", "gc", "cpu_s"].t.size >= 6)
    ran, before = ("server-1", "gc", "ran_s"), time.time()
    sampler.configure(observed.entry())
    sampler.until(lambda s: ran in s.threads and s.threads[ran].t[-1] >= before)
    assert sampler.stop() == (Exit.OK, "")
    samples = Samples.load(sampler.output)
    used, ran_s, wait_s = (
        samples.threads["server-1", "gc", column] for column in ("cpu_s", "ran_s", "wait_s")
    )
    assert ran_s.v[-1] == pytest.approx(used.v[-1], abs=0.05)
    assert wait_s.v[-1] > 0
    assert list(wait_s.t) == list(ran_s.t)
    # At the start, where the configuration was written, and at the end.
    assert 3 <= ran_s.t.size < used.t.size
    assert samples.threads["server-1", "jit", "ran_s"].t.size == used.t.size


def test_memory_faults_and_switches(sampler: Running, observed: Observed) -> None:
    sampler.start(observed.entry())
    sampler.until(lambda s: s.host and s.host[("monotonic",)].t.size >= 5)
    assert sampler.stop()[0] == Exit.OK
    samples = Samples.load(sampler.output)
    rss, pss = (samples.processes["server-1", column].v[-1] for column in ("rss", "pss"))
    assert 64 * 2**20 < pss <= rss * 1.05 < 400 * 2**20
    assert samples.processes["server-1", "pss"].t.size >= 2  # at the start and at the end
    assert samples.processes["server-1", "voluntary_switches"].v[-1] > 0
    assert samples.processes["server-1", "minor_faults"].v[-1] > 64 * 2**20 / os.sysconf("SC_PAGE_SIZE") / 4
    assert ("sampler", "user_s") in samples.processes
    cost = json.loads((sampler.output / "sampler.json").read_text(encoding="utf-8"))
    assert cost["samples"] == samples.host[("monotonic",)].t.size
    assert 0 < cost["cpu_s"] < cost["elapsed_s"]


def test_counters_with_the_servers_own_time(sampler: Running, observed: Observed) -> None:
    sampler.start(observed.entry(), answer_limit=UNLIMITED)
    sampler.until(lambda s: (s.total_counts() or (0,))[0] >= 50)
    assert sampler.stop(signal.SIGINT) == (Exit.OK, "")
    requests = Samples.load(sampler.output).counters["server-1", "ping", "requests"]
    # Each question raises the count by ten, so every answer was kept, the last sample's too.
    assert list(requests.v) == [10.0 * (i + 1) for i in range(requests.v.size)]
    assert sampler.notes() == []


def test_figures_that_a_process_tells_of_itself(sampler: Running, observed: Observed) -> None:
    told = {"counters_url": None, "metrics_url": f"http://127.0.0.1:{observed.port}/metrics"}
    sampler.start(observed.entry(name="jitserver") | told, answer_limit=UNLIMITED)
    sampler.until(lambda s: s.metrics and s.metrics["jitserver", "busy_threads", "value"].t.size >= 5)
    assert sampler.stop() == (Exit.OK, "")
    samples = Samples.load(sampler.output)
    first, *_, last = samples.metrics["jitserver", "busy_threads", "value"].t
    assert samples.own_figures("jitserver", first, last) == {"busy_threads": 7.0}
    assert samples.own_figures("server-1", first, last) == {}
    assert samples.total_counts() is None
    assert sampler.notes() == []


def test_the_connection_is_kept_where_the_server_keeps_it(sampler: Running, observed: Observed) -> None:
    sampler.start(observed.entry(path="/kept"), answer_limit=UNLIMITED)
    sampler.until(lambda s: (s.total_counts() or (0,))[0] >= 50)
    assert sampler.stop() == (Exit.OK, "")
    samples = Samples.load(sampler.output)
    assert set(samples.counters["server-1", "ping", "errors"].v) == {1.0}  # connections
    assert sampler.notes() == []


def test_a_kept_connection_that_is_lost_is_made_anew(sampler: Running, observed: Observed) -> None:
    sampler.start(observed.entry(path="/lost"))
    samples = sampler.until(lambda s: (s.total_counts() or (0,))[0] >= 50)
    assert sampler.stop() == (Exit.OK, "")
    connections = samples.counters["server-1", "ping", "errors"].v
    assert list(connections) == sorted(set(connections))
    assert any("counters: " in note for note in sampler.notes())


def test_server_that_does_not_answer_and_one_that_refuses(sampler: Running, observed: Observed) -> None:
    refused = observed.entry("server-2") | {"counters_url": "http://127.0.0.1:9/bench/counters"}
    silent = observed.entry(path="/silent")
    sampler.start(silent, refused, observed.entry("server-3"), answer_limit=UNLIMITED)
    # Sampling goes on: one that waited for the answer would never take another sample.
    sampler.until(lambda s: s.counters and s.host[("monotonic",)].t.size >= 10)
    assert sampler.stop()[0] == Exit.OK
    samples = Samples.load(sampler.output)
    assert {process for process, _, _ in samples.counters} == {"server-3"}
    assert "server-2: counters: Connection refused" in sampler.notes()
    assert not any("no answer within" in note for note in sampler.notes())


def test_a_server_that_does_not_answer_is_told(sampler: Running, observed: Observed) -> None:
    sampler.start(observed.entry(path="/silent"), answer_limit=TINY)
    sampler.until(lambda _: f"server-1: counters: no answer within {TINY:g} s" in sampler.notes())
    assert sampler.stop()[0] == Exit.OK


def test_process_that_dies(sampler: Running, observed: Observed) -> None:
    sampler.start(observed.entry())
    sampler.until(lambda s: s.total_counts())
    with suppress(OSError):
        fetch(f"http://127.0.0.1:{observed.port}/stop")
    assert observed.process.wait() == 3
    died = time.time()
    sampler.until(lambda _: "server-1: the process has ended" in sampler.notes())
    samples = sampler.until(lambda s: s.host[("monotonic",)].t[-1] > died + 3 * INTERVAL)
    assert samples.processes["server-1", "user_s"].t[-1] <= died + 2 * INTERVAL
    assert sampler.stop()[0] == Exit.OK


def test_processes_are_added_while_it_runs(sampler: Running, observed: Observed) -> None:
    sampler.start(observed.entry())
    sampler.until(lambda s: s.process_names())
    sampler.configure(
        observed.entry(), observed.entry("injector-1", role="injector") | {"counters_url": None}
    )
    samples = sampler.until(lambda s: "injector-1" in s.process_names())
    assert {process for process, _, _ in samples.threads} == {"server-1"}
    sampler.config.write_text("{", encoding="utf-8")
    sampler.until(lambda _: any("was not taken" in note for note in sampler.notes()))
    assert sampler.stop()[0] == Exit.OK


def test_what_was_added_in_the_last_interval_is_in_the_last_sample(
    sampler: Running, observed: Observed
) -> None:
    injector = observed.entry("injector-1", role="injector") | {"counters_url": None}
    sampler.start(injector, interval=1000.0)
    sampler.until(lambda s: s.process_names())
    sampler.configure(injector, observed.entry(), interval=1000.0)
    assert sampler.stop()[0] == Exit.OK
    assert "server-1" in Samples.load(sampler.output).process_names()


def test_cpu_of_others_is_what_is_not_watched_however_short_lived(
    sampler: Running, observed: Observed
) -> None:
    sampler.start(observed.entry(), interval=0.2)
    sampler.until(lambda s: s.host and s.host[("other_s",)].t.size > 1)
    began, used = time.time(), 0.0
    while used < 1.0:  # dozens of processes, most of which no sample ever saw
        burner = subprocess.Popen(["sh", "-c", "i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done"])
        _, burner.returncode, usage = os.wait4(burner.pid, 0)
        used += usage.ru_utime + usage.ru_stime
    ended = time.time()
    samples = sampler.until(lambda s: s.host[("monotonic",)].t[-1] > ended)
    # What all others used holds the burners'; it is counted by ticks, hence the margin.
    other = samples.other_cpu(began, ended)
    assert other is not None
    assert other > 0.5 * used
    assert sampler.stop()[0] == Exit.OK


BURNER = """
import os
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
print(flush=True)
while True:
    pass
"""


def burning() -> subprocess.Popen[bytes]:
    """A process that would use all of its CPU, the first one that we may use, and has begun to."""
    made = subprocess.Popen([sys.executable, "-c", BURNER], stdout=subprocess.PIPE)
    assert made.stdout
    made.stdout.readline()
    return made


@pytest.fixture
def burner() -> Iterator[subprocess.Popen[bytes]]:
    made = burning()
    yield made
    made.kill()
    made.wait()


def test_a_server_that_is_stopped_stalls(sampler: Running, burner: subprocess.Popen[bytes]) -> None:
    sampler.start({"name": "server-1", "pid": burner.pid, "role": "server"})

    def used(samples: Samples) -> float:
        """CPU seconds since the first sample."""
        series = samples.processes.get(("server-1", "user_s"))
        return float(series.v[-1] - series.v[0]) if series else 0.0

    def still(samples: Samples) -> float:
        """Seconds for which samples show that it used none, up to the last one."""
        series = samples.processes["server-1", "user_s"]
        return float(series.t[-1] - series.t[series.v == series.v[-1]][0])

    def left_out(seconds: float, samples: Samples) -> float:
        """CPU seconds that it uses in so many on average, also of a time in which the whole machine stood still."""
        series = samples.processes["server-1", "user_s"]
        return seconds * used(samples) / float(series.t[-1] - series.t[0])

    sampler.until(lambda s: used(s) > 1.0)
    burner.send_signal(signal.SIGSTOP)
    # By the samples, which may lie far apart: the first one after the signal still tells of use before it.
    stopped = sampler.until(lambda s: still(s) > 3.0 and left_out(still(s), s) > 2 * STALL_SHOWS)
    burner.send_signal(signal.SIGCONT)
    samples = sampler.until(
        lambda s: used(s) > used(stopped) + 0.5 and left_out(still(stopped), s) > STALL_SHOWS
    )
    assert sampler.stop()[0] == Exit.OK
    first, *_, last = samples.processes["server-1", "user_s"].t
    seconds = stall(samples, ["server-1"], first, last, Recorded())
    assert seconds is not None
    assert seconds > 2.5


def test_an_injector_that_shares_its_cpu_waits_for_it(
    sampler: Running, burner: subprocess.Popen[bytes]
) -> None:
    """Two that want one CPU wait half of the time each, and no sooner than they have work."""
    beside = burning()
    try:
        sampler.start({"name": "injector-1", "pid": burner.pid, "role": "injector"})
        samples = sampler.until(
            lambda s: (one := s.processes.get(("injector-1", "user_s"))) and one.v[-1] - one.v[0] > 0.5
        )
    finally:
        beside.kill()
        beside.wait()
    assert sampler.stop()[0] == Exit.OK
    wait = samples.processes["injector-1", "wait_s"]
    used = samples.processes["injector-1", "user_s"]
    assert wait.v[-1] - wait.v[0] > 0.3 * (used.v[-1] - used.v[0])
    assert ("sampler", "wait_s") not in samples.processes


PARENT = """
import pathlib, subprocess, sys, time
nothing = subprocess.DEVNULL
child = subprocess.Popen([sys.executable, "-m", "steelyard.sampling", sys.argv[1]], stdout=nothing, stderr=nothing)
while not pathlib.Path(sys.argv[2], "host.csv").exists():
    time.sleep(0.05)
print(child.pid)
"""


def test_control_group_of_a_container_only(sampler: Running, observed: Observed) -> None:
    if not ControlGroup(observed.process.pid).is_seen:
        pytest.skip("the control groups of processes cannot be seen here")
    contained = observed.entry() | {"cgroup": True}
    sampler.start(contained, observed.entry("bare", role="harness"))
    sampler.until(lambda s: len(s.cgroups.get(("server-1", "cpu_s"), Series.of([])).t) > 8)
    assert sampler.stop() == (Exit.OK, "")
    samples = Samples.load(sampler.output)
    assert {process for process, _ in samples.cgroups} == {"server-1"}
    cpu = samples.cgroups["server-1", "cpu_s"]
    used = component_result(make_window(samples, cpu.t[0], cpu.t[-1]), make_component()).cgroup
    assert used is not None
    assert used.value("cpu_seconds") == pytest.approx(cpu.v[-1] - cpu.v[0])
    assert (used.value("cpu_seconds") or 0) > 0


def test_control_group_that_cannot_be_seen(sampler: Running) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    sampler.start({"name": "server-1", "pid": ended.pid, "role": "server", "cgroup": True})
    sampler.until(lambda _: sampler.notes())
    assert sampler.stop() == (Exit.OK, "")
    assert "server-1: its control group cannot be seen from here" in sampler.notes()
    assert Samples.load(sampler.output).cgroups == {}


def test_ends_with_its_parent(sampler: Running, observed: Observed) -> None:
    sampler.configure(observed.entry())
    parent = subprocess.run(
        [sys.executable, "-c", PARENT, str(sampler.config), str(sampler.output)],
        cwd=SCRIPTS,
        capture_output=True,
        text=True,
        check=True,
    )
    pid = int(parent.stdout)
    wait_until((sampler.output / "sampler.json").exists, "the last sample")
    wait_until(lambda: not is_running(pid), "the sampler's end")


def test_another_parent_than_the_configured_one(sampler: Running, observed: Observed) -> None:
    sampler.start(observed.entry(), parent=os.getpid() + 1)
    assert sampler.end() == (Exit.OK, "")
    assert Samples.load(sampler.output).process_names() == ["server-1"]


def test_full_disk_is_told(sampler: Running, observed: Observed) -> None:
    sampler.start(observed.entry())
    sampler.until(lambda s: s.host)
    assert sampler.process
    # No file of the sampler may grow any more: writing fails as on a full disk.
    resource.prlimit(sampler.process.pid, resource.RLIMIT_FSIZE, (1, 1))
    code, errors = sampler.end()
    assert code == Exit.NO_SPACE
    assert errors.startswith("sampler: cannot write its samples")
    assert Samples.load(sampler.output).process_names() == ["server-1"]  # what was written is readable


def test_wrong_configuration_is_told(sampler: Running) -> None:
    sampler.start({"name": "sampler", "pid": 1, "role": "server"})
    code, errors = sampler.end()
    assert code == Exit.BAD_INPUT
    assert "process names must differ" in errors


def test_imports_nothing_heavy() -> None:
    code = "import sys, steelyard.sampling.__main__; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=SCRIPTS, capture_output=True, text=True, check=True
    ).stdout.split()
    assert {"numpy", "pydantic", "psutil", "asyncio", "http.client"}.isdisjoint(loaded)
