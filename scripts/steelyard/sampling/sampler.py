# SPDX-License-Identifier: Apache-2.0
"""The sampling loop.

What is cheap is read every second. What is dear, so that the sampler stays below 1 % of one core whatever the size of
the servers, is read at the start, at the end and whenever the configuration is written, as the harness does where a
measurement begins and ends: PSS (the kernel walks all page tables of the process), context switches and the wait of
threads for a CPU (a file each for each thread).
"""

import os
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from steelyard.measure.columns import NOTHING, OWN_NAME
from steelyard.process_tree import Trees
from steelyard.sampling.cgroup import GROUP_COLUMNS, ControlGroup
from steelyard.sampling.columns import Reading, process_row
from steelyard.sampling.config import Config, Watched, parse_config
from steelyard.sampling.counters import (
    ANSWER_LIMIT,
    Count,
    Counters,
    Endpoint,
    Figure,
    Told,
    parse_counters,
    parse_metrics,
)
from steelyard.sampling.hsperf import JvmFiles
from steelyard.sampling.machine import LINE_BYTES, forwarders, parse_cpu_lines
from steelyard.sampling.output import WATCHED, Output, output, text
from steelyard.sampling.process import Process, ProcessFigures
from steelyard.sampling.procfs import ProcFile, interrupts_apart, parse_host_cpu

LAST_ANSWERS = 1.0
"""Seconds that the last sample waits for the servers' counters."""
_TOGETHER = 0.001
"""Seconds within which the host's CPU time and the clock are read; all CPUs go on between them."""
_READINGS = 5
"""Attempts at that on a busy host."""


class Sampler:
    """Samples until it is woken, its parent is gone, or its files cannot be written."""

    def __init__(self, config_path: Path, wake: int, tables: Output | None = None) -> None:
        self._started = time.clock_gettime(time.CLOCK_BOOTTIME)
        self._config_path = config_path
        self._wake = wake
        self._config_stamp = (0, 0)
        config = parse_config(config_path.read_text(encoding="utf-8"))
        self._interval = config.interval
        self._parent = config.parent if config.parent is not None else os.getppid()
        self._tables = tables or output(config.output)
        self._processes: dict[str, Process] = {}
        self._by_pid: dict[int, Process] = {}
        self._trees = Trees()
        self._groups: dict[str, ControlGroup] = {}
        self._jvms: defaultdict[str, JvmFiles] = defaultdict(JvmFiles)
        self._counters = Counters(self._take_answer)
        self._host = ProcFile("/proc/stat")
        self._interrupts_apart = interrupts_apart()
        self._other_seconds = self._watched_seconds = 0.0
        self._cpus = os.sysconf("SC_NPROCESSORS_ONLN")
        self._used_before: float | None = None
        self._cpu_before: dict[str, float] = {}
        self._everything = True
        """Whether the next sample reads what is dear, too."""
        self._cost: dict[str, int] = {}
        self._samples = 0
        self._late = 0
        if self._interrupts_apart is None:
            self._note(
                OWN_NAME,
                "the kernel does not tell (no configuration, no /proc/kallsyms) whether interrupts are in the CPU time"
                " of processes: they count as CPU of others",
            )
        self._watch(config)

    def run(self) -> None:
        """Sample once per interval; one last time, with everything, when woken.

        Raises:
            OSError: the output cannot be written.
        """
        started, cpu_before = time.monotonic(), time.process_time()
        # Whole wall-clock seconds, as the injectors' intervals: both sides then count in the same windows.
        deadline = started - time.time() % self._interval
        while True:
            self._sample()
            deadline += self._interval
            behind = time.monotonic() - deadline
            if behind > 0:  # overslept: leave the missed samples out instead of hurrying after them
                missed = int(behind / self._interval) + 1
                deadline += missed * self._interval
                self._late += missed
            if self._counters.wait(deadline, self._wake) or os.getppid() != self._parent:
                break
            self._reload()
        # What came in the last interval, a whole trial of a start that takes less than a second.
        self._reload()
        self._everything = True
        self._sample()
        self._counters.wait(time.monotonic() + LAST_ANSWERS, until_answered=True)
        self._tables.flush()
        self._write_cost(time.monotonic() - started, time.process_time() - cpu_before)

    def _sample(self) -> None:
        with self._part("counters"):
            self._counters.ask()
        now = time.monotonic()
        with self._part("trees"):
            self._trees.update()
        for process in self._processes.values():
            if not process.ended:
                self._sample_process(process)
        if self._everything:
            with self._part("machine"):
                self._sample_machine()
        self._everything = False
        with self._part("cgroups"):
            self._sample_groups()
        with self._part("host"):
            self._sample_host()
        with self._part("counters"):
            self._counters.wait(now)
        self._note_problems()
        with self._part("write"):
            self._tables.flush()
        self._samples += 1

    def _sample_process(self, process: Process) -> None:
        if not process.alone:
            process.take(self._trees.members(process.name))
        if process.is_server:
            with self._part("threads"):
                process.read_threads(self._everything)
        with self._part("processes"):
            figures = process.read(self._by_pid)
            for pid in process.gone:
                self._trees.forget(pid)
        if process.ended:
            self._note(process.name, "the process has ended")
        if figures is None:
            return
        pss = switches = None
        if process.is_server and not process.ended and self._everything:
            with self._part("pss"):
                pss = process.read_pss()
            with self._part("switches"):
                switches = process.read_switches()
        with self._part("processes"):
            self._add_process(process, figures, pss, switches)
        if process.is_server and not process.ended:
            with self._part("jvm"):
                self._add_jvm(process)

    def _add_process(
        self, process: Process, figures: ProcessFigures, pss: int | None, switches: list[int] | None
    ) -> None:
        reading = Reading(process, figures, pss, switches, process.read_wait())
        self._tables.add("processes", process_row(reading))
        if process.is_server:
            for group, seconds in process.cpu_by_group().items():
                # Of the others it was not read now.
                queue = process.queue(group) if self._everything or group == "jit" else None
                states = "," if queue is None else f"{queue.waited:.4f},{queue.ran:.4f}"
                row = f"{process.epoch:.4f},{process.name},{group},{seconds:.2f},{states}"
                self._tables.add("threads", row)

    def _add_jvm(self, process: Process) -> None:
        values = self._jvms[process.name].read(self._trees.members(process.name))
        if values is not None:
            fields = (
                "" if value is None else f"{value:.6f}".rstrip("0").rstrip(".") for value in values.values()
            )
            self._tables.add("jvm", f"{process.epoch:.4f},{process.name},{','.join(fields)}")

    def _sample_groups(self) -> None:
        for name, group in self._groups.items():
            epoch = time.time()
            if not self._processes[name].ended and (figures := group.read()) is not None:
                known = (figures.get(column, "") for column in GROUP_COLUMNS)
                fields = (f"{value:.6f}" if isinstance(value, float) else str(value) for value in known)
                self._tables.add("cgroups", f"{epoch:.4f},{name},{','.join(fields)}")

    def _sample_host(self) -> None:
        for _ in range(_READINGS):
            before = time.monotonic()
            line = self._host.read(512)
            epoch, monotonic = time.time(), time.monotonic()
            if monotonic - before < _TOGETHER:
                break
        if line is None:
            return
        cpu = parse_host_cpu(line)
        # Where it cannot be told whose interrupts are, they are others': what is then within its limit is so anyway.
        used = cpu.used_seconds(monotonic, self._cpus, interrupts_apart=self._interrupts_apart is True)
        if self._used_before is not None:
            watched = sum(p.used - self._known_cpu(p) for p in self._processes.values())
            self._other_seconds += used - self._used_before - watched
            self._watched_seconds += watched
        self._used_before = used
        self._cpu_before = {name: process.used for name, process in self._processes.items()}
        self._tables.add(
            "host",
            f"{epoch:.4f},{monotonic:.4f},{cpu.busy:.2f},{cpu.steal:.2f},{cpu.idle:.2f},{self._other_seconds:.2f}",
        )
        self._tables.add(WATCHED, f"{epoch:.4f},{self._watched_seconds:.2f}")

    def _sample_machine(self) -> None:
        """How each CPU spent its time, and what forwarded the network of containers."""
        content = self._host.read(LINE_BYTES * (os.cpu_count() or self._cpus) + 512)
        epoch = time.time()
        for cpu, seconds in parse_cpu_lines(content or b"").items():
            self._tables.add("cpus", f"{epoch:.4f},{cpu},{','.join(f'{value:.2f}' for value in seconds)}")
        for name, used in forwarders():
            self._tables.add("forwarders", f"{time.time():.4f},{text(name)},{used:.4f}")

    def _known_cpu(self, process: Process) -> float:
        """CPU seconds of a watched process that are no longer to be taken from `other`.

        What a process used before it was added to the configuration was counted as `other`: if it started after the
        sampler, that is all of its CPU, and it is taken back.
        """
        first = 0.0 if process.started > self._started else process.used
        return self._cpu_before.get(process.name, first)

    def _take_answer(self, process: str, epoch: float, content: Sequence[Told]) -> None:
        for entry in content or [Count(NOTHING, 0, 0, 0.0)]:
            if isinstance(entry, Figure):
                self._tables.add("metrics", f"{epoch:.4f},{process},{text(entry.name)},{entry.value:.6f}")
                continue
            self._tables.add(
                "counters",
                f"{epoch:.4f},{process},{text(entry.operation)},{entry.requests},{entry.errors},{entry.service_seconds:.6f}",
            )

    def _watch(self, config: Config) -> None:
        own = Watched(OWN_NAME, os.getpid(), "harness")
        for watched in (own, *config.processes):
            if watched.name in self._processes:
                continue
            process = self._processes[watched.name] = self._by_pid[watched.pid] = Process(watched)
            if not process.alone:
                self._trees.add(watched.name, watched.pid, watched.mark)
            if watched.cgroup or watched.quota:
                group = ControlGroup(watched.pid, quota_alone=not watched.cgroup)
                self._groups[watched.name] = group
                if not group.is_seen:
                    self._note(watched.name, "its control group cannot be seen from here")
            limit = ANSWER_LIMIT if config.answer_limit is None else config.answer_limit
            for url, parse in ((watched.counters_url, parse_counters), (watched.metrics_url, parse_metrics)):
                if url:
                    self._counters.endpoints.append(Endpoint(watched.name, url, parse, limit))

    def _reload(self) -> None:
        """Take in processes that were added to the configuration."""
        try:
            status = self._config_path.stat()
            if (stamp := (status.st_mtime_ns, status.st_ino)) != self._config_stamp:
                self._config_stamp, self._everything = stamp, True
                self._watch(parse_config(self._config_path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            pass  # removed with the trial's directory: go on with what is known
        except (OSError, ValueError) as error:
            self._note(OWN_NAME, f"the changed configuration was not taken: {error}")

    def _note_problems(self) -> None:
        for endpoint in self._counters.endpoints:
            if endpoint.problem != endpoint.noted:
                endpoint.noted = endpoint.problem
                self._note(endpoint.process, f"counters: {endpoint.problem or 'answering again'}")
        self._counters.endpoints = [
            e for e in self._counters.endpoints if not self._processes[e.process].ended
        ]

    def _note(self, process: str, note: str) -> None:
        self._tables.add("notes", f"{time.time():.4f},{process},{text(note)}")

    def _write_cost(self, elapsed: float, cpu: float) -> None:
        parts = {name: round(nanoseconds / 1e9, 6) for name, nanoseconds in self._cost.items()}
        cost = {
            "elapsed_s": round(elapsed, 3),
            "cpu_s": round(cpu, 6),
            "share_of_one_core": round(cpu / elapsed, 6),
            "parts_s": parts | {"rest": round(cpu - sum(parts.values()), 6)},
            "samples": self._samples,
            "missed_samples": self._late,
        }
        self._tables.finish(cost)

    @contextmanager
    def _part(self, name: str) -> Iterator[None]:
        before = time.thread_time_ns()
        yield
        self._cost[name] = self._cost.get(name, 0) + time.thread_time_ns() - before
