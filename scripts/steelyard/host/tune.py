# SPDX-License-Identifier: Apache-2.0
"""The POWER9 study's checklist for one host: what is set, what would be better, the experiment that shows it here, and
the commands that set it and undo it. Looks, and changes nothing.

Host states speak for themselves (`better`, `said`, `experiment` of their declarations); what is set in JVMs, servers
and proxies, and not in the host, stands here.
"""

from typing import NamedTuple

from steelyard.host.facts import read_facts
from steelyard.host.state import HostState
from steelyard.host.states import STATES
from steelyard.host.system import System
from steelyard.results.figures import count, pools_text
from steelyard.results.schema import HostFacts

GC_THREADS_PER_CPU = 4
"""The study's rule: GC threads of all JVMs together, at most, for each hardware thread."""
JVMS = 20
"""Of the study: four of each of five services."""
MEASURE = "measure it: what is better depends on the host and on what it runs"


class Advice(NamedTuple):
    """One line of the checklist."""

    topic: str
    now: str
    better: str
    said: str
    """What the study found."""
    experiment: str
    sets: str
    undoes: str


def advise(system: System) -> list[Advice]:
    """The checklist, host states first, in the order in which they are set."""
    facts = read_facts(system.root, system.machine)
    return [
        *(_of_state(state, system) for state in STATES.values() if state.experiment),
        *_of_programs(facts),
    ]


def _of_state(state: HostState, system: System) -> Advice:
    now, state_text = state.read(system), state.observation(system).state
    if now is None:
        return Advice(state.topic, f"not here: {state_text}", "", state.said, "", "", "")
    better = state.better(system)
    others = [value for level in state.levels(system) if (value := state.value(system, level)) != now]
    target = others[-1] if others else None
    if better is not None:
        target = state.value(system, better)
    return Advice(
        topic=state.topic,
        now=state_text,
        better=better or MEASURE,
        said=state.said,
        experiment=state.experiment,
        sets=state.command(target) if target is not None else "",
        undoes=state.command(now) if target is not None else "",
    )


def _of_programs(facts: HostFacts) -> list[Advice]:
    """What JVMs, servers and proxies are started with."""
    most = GC_THREADS_PER_CPU * facts.cpus
    each = max(1, min(8, most // JVMS))
    few = f"with {JVMS} JVMs here, {each} each: at most {GC_THREADS_PER_CPU} x {facts.cpus} in all"
    if most < JVMS:
        few = f"one each, and fewer than {JVMS} JVMs: at most {GC_THREADS_PER_CPU} x {facts.cpus} in all"
    several = facts.numa_nodes > 1
    return [
        Advice(
            "large pages",
            pools_text(facts.huge_pages) or "none here",
            "reserve them for the heaps that there will be",
            "-Xlp: a large drop in page faults",
            "large-pages",
            "sudo ./steelyard host prepare large-pages --heap 2g   and -Xlp (OpenJ9), -XX:+UseLargePages (HotSpot)",
            "sudo ./steelyard host restore   and leave the option out",
        ),
        Advice(
            "gc threads",
            f"a JVM takes one for each of {facts.cpus} hardware threads, unless it is given",
            few if facts.cpus > each else "as it is",
            f"over 15 % of CPU in GC before tuning; -Xgcthreads8 with {JVMS} JVMs on 64 hardware threads",
            "gc-threads-20-jvms",
            f"-Xgcthreads{each} (OpenJ9), -XX:ParallelGCThreads={each} (HotSpot)",
            "leave the option out",
        ),
        Advice(
            "thread pool",
            "Liberty's own choice, unless server.xml has <executor maxThreads>",
            "leave it to Liberty",
            "leave the pool to its autonomics (18.0.0.1 and later)",
            "thread-pool",
            "EXECUTOR_THREADS=16   (servers of this suite)",
            "unset EXECUTOR_THREADS",
        ),
        Advice(
            "ingress",
            "that of this suite",
            MEASURE,
            "access log off, keepalive_requests 10,000, 163,840 connections, 1,000 kept to the servers, 10 workers,"
            " 81,920 open files, bodies of any size",
            "ingress",
            "nginx.conf: worker_processes, worker_connections, keepalive_requests, access_log",
            "the lines as they were",
        ),
        Advice(
            "numa",
            count(facts.numa_nodes, "node"),
            "bind each JVM to the cores of one node" if several else "as it is: one node",
            "",
            "numa" if several else "",
            "numactl --cpunodebind=0 --membind=0 java ..." if several else "",
            "start it without numactl" if several else "",
        ),
    ]
