# SPDX-License-Identifier: Apache-2.0
"""Whether the injectors could issue the load: their CPU, their wait for it, their memory, what they gave up, and that
each delivered."""

from steelyard.measure.formulas import EVERY, combine_known, ratio
from steelyard.measure.rule import RESULT, SURVIVE, Finding, Rule, judge_none, judge_share
from steelyard.measure.window import SENTENCES, Window, trial_figure
from steelyard.results.measurement import OperationCounts, TrialMeasurement
from steelyard.results.spec import Spec


@trial_figure("share", undisturbed=0.5)
def injector_cpu_share(window: Window) -> float | None:
    """CPU used by the injectors together / CPU that they may use.

    They share it with one another: two that use 95 % of the host have used 95 %, not half of that each. On CPUs of
    their own the databases and services that stand there count with them. On the servers' CPUs only their own use
    does, for servers are to fill those; whether the injectors came to run in time is another figure
    (`injector_wait_share`).
    """
    cpus = window.cpus([injector.name for injector in window.spec.injectors])
    neighbours = set() if window.spec.injectors_share_cores else window.spec.without_injectors
    there = {component.name for component in neighbours if cpus.intersection(component.cpus)}
    used = [
        component.value("cpu_seconds")
        for component in window.components
        if component.role == "injector" or component.name in there
    ]
    return ratio(combine_known(used, sum), window.seconds * len(cpus))


@trial_figure("share", undisturbed=0.1)
def injector_wait_share(window: Window) -> float | None:
    """Run-queue wait of the threads of the injector that waited most / (its wait + its CPU)."""
    shares = []
    for injector in window.of("injector"):
        waited = window.growth(injector.name, "wait_s")
        shares.append(ratio(waited, combine_known((waited, injector.value("cpu_seconds")), sum)))
    return combine_known(shares, max)


@trial_figure("share", undisturbed=0.1)
def injector_memory_share(window: Window) -> float | None:
    """Largest use of an injector's memory / what it may use: heap that collections leave, buffers, bodies."""
    return window.health.memory


@trial_figure("count", undisturbed=0)
def abandoned_requests(window: Window) -> float | None:
    """Operations in flight when the injectors were cut off, whole run; they are in no other count."""
    counts = [summary.get("abandonedRequests") for summary in window.run.injectors.summaries()]
    return combine_known(counts, sum) if len(counts) == len(window.spec.injectors) else None


def operation_counts(window: Window) -> dict[str, OperationCounts]:
    """What the injectors counted of each operation; nothing where one of them tells nothing."""
    reported = [summary.get("operations") for summary in window.run.injectors.summaries()]
    of_each = [operations for operations in reported if operations]
    if len(of_each) != len(window.spec.injectors):
        return {}

    def total(operation: str, key: str) -> int | None:
        counts = [each[operation].get(key) for each in of_each if operation in each]
        return None if None in counts else sum(counts)

    names = dict.fromkeys(name for operations in of_each for name in operations)
    return {
        name: OperationCounts(**{key: total(name, key) for key in OperationCounts.model_fields})
        for name in names
    }


@trial_figure(SENTENCES)
def injector_failures(window: Window) -> list[str]:
    """Injectors that died or did not deliver, by the harness and by the logs that they wrote."""
    return [*window.run.sentences_of("injectors"), *window.total.damaged]


def judge_abandoned(measurement: TrialMeasurement, _: Spec) -> Finding:
    """Share of all operations: without the slowest ones latencies are too good."""
    abandoned = measurement.value("abandoned_requests")
    if abandoned is None:
        return Finding(None, "How many operations the injectors gave up was not recorded.")
    every = measurement.injector_requests + abandoned
    said = f"The injectors gave up {abandoned:,.0f} of {every:,.0f} operations that still awaited an answer."
    return Finding(abandoned / every if every else 0.0, said)


RULES = (
    Rule(
        name="injector-cpu",
        limit=0.80,
        unit="of its CPUs",
        says="injectors together use at most 80 % of the CPUs that they may use",
        judge=judge_share("injector_cpu_share", "the injectors used {} of their CPUs", 0),
    ),
    # On the servers' cores a small use proves nothing: did the injectors run in time? In a queue with random arrivals
    # (M/M/1) that is busy for a share of 0.8, 0.8 of the time spent there is waiting: the limit above, as threads see
    # it. It only marks: a closed load loses no throughput while its CPUs are full, an open one has the rule of late
    # arrivals, and more runnable threads (more JVMs) alone mean longer waits: voids would fall on some arms only.
    Rule(
        name="injector-waits",
        limit=0.80,
        unit="of the time that they had work",
        says="injectors wait for a CPU at most 80 % of the time that they have work",
        judge=judge_share("injector_wait_share", "the injectors waited for a CPU {} of that time", 0),
        source="the kernel's schedstat; 80 % is the wait of an M/M/1 queue that is 80 % busy",
        voids=False,
    ),
    # An injector without memory stands still, is late, and may take the servers' place as what fails. Half of what it
    # may use is the most that its bodies may hold (loadgen/README.md).
    Rule(
        name="injector-memory",
        limit=0.80,
        unit="of its memory",
        says="each injector uses at most 80 % of the memory that it may use",
        judge=judge_share("injector_memory_share", "an injector used {} of its memory", 0),
    ),
    Rule(
        name="abandoned",
        limit=0.001,
        unit="of operations",
        says=f"at most 0.1 % of the operations given up by the injectors at their end; {RESULT}",
        judge=judge_abandoned,
        answers=SURVIVE,
    ),
    Rule(
        name="injectors",
        limit=0.0,
        unit="injectors",
        says="every injector finished and delivered",
        judge=judge_none("injector_failures", "Every injector delivered", "An injector failed"),
        source="without it there is no measurement",
        procedures=EVERY,
    ),
)
