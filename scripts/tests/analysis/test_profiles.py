# SPDX-License-Identifier: Apache-2.0
"""Profiles compared: whose work a stack is, and which method changed most."""

import random
from collections import Counter

import pytest

from steelyard.analysis.profiles import (
    ProfileData,
    Stack,
    area_of,
    changes,
    cost_by_area,
    own_method,
    read_stacks,
)
from steelyard.results.schema import Event

LIBERTY = "com/ibm/ws/http/dispatcher/internal/channel/HttpDispatcherLink.ready_[1]"
SHOP = "shop/Cart.total_[j]"


def test_a_line_is_a_stack_and_its_cost() -> None:
    stacks = read_stacks("a;b c;d_[j] 30\na;b c;d_[j] 12\nx 1\n")
    assert stacks == {("a", "b c", "d_[j]"): 42, ("x",): 1}


@pytest.mark.parametrize("line", ["a;b", "a;b much", ""])
def test_what_is_no_such_line_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        read_stacks(f"{line}\n")


@pytest.mark.parametrize(
    ("calls", "area"),
    [
        ((LIBERTY, SHOP), "application"),
        ((LIBERTY, SHOP, "java/util/HashMap.hash_[i]"), "application"),
        ((LIBERTY, "java/util/HashMap.hash_[i]"), "server"),
        ((LIBERTY, "sun/nio/ch/SocketDispatcher.write0_[0]", "do_softirq.part.0_[k]"), "kernel"),
        ((LIBERTY, "sun/nio/ch/SocketDispatcher.write0_[0]", "__libc_write"), "network"),
        (("start_thread", "CompileBroker::compiler_thread_loop", "IndexSet::IndexSet"), "JIT compiler"),
        (("start_thread", "GangWorker::loop", "PSPromotionManager::drain"), "garbage collector"),
        (
            ("start_thread", "VM_GenCollectForAllocation::doit", "FastScanClosure::do_oop"),
            "garbage collector",
        ),
        (("start_thread", "VM_SerialCollectForAllocation::doit", "FastScanClosure"), "garbage collector"),
        (("start_thread", "VM_SerialGCCollect::doit", "MarkSweep::mark"), "garbage collector"),
        (("start_thread", "VMThread::run", "SerialHeap::do_young_collection"), "garbage collector"),
        (("start_thread", "VMThread::run", "SerialFullGC::phase1_mark", "x"), "garbage collector"),
        (("start_thread", "VMThread::run", "DefNewGeneration::collect", "x"), "garbage collector"),
        (("start_thread", "VM_ParallelCollectForAllocation::doit", "x"), "garbage collector"),
        ((LIBERTY, SHOP, "SerialHeap::mem_allocate", "DefNewGeneration::par_allocate"), "application"),
        (("Burn.main_[0]", "Burn.hot_[1]", "sin"), "application"),
        (("start_thread", "VMThread::run"), "other"),
        (("[unknown]",), "other"),
    ],
)
def test_whose_work_a_stack_is(calls: Stack, area: str) -> None:
    assert area_of(calls) == area


@pytest.mark.parametrize(
    ("event", "stack", "method"),
    [
        ("cpu", (LIBERTY, SHOP, "jbyte_arraycopy"), ("shop/Cart.total", "application")),
        ("cpu", (LIBERTY, "java/net/X.write_[0]", "tcp_sendmsg_[k]"), ("java/net/X.write", "network")),
        ("alloc", (LIBERTY, SHOP, "java.lang.String_[i]"), ("shop/Cart.total", "application")),
        ("lock", (LIBERTY, "java.lang.Object_[i]"), (LIBERTY[:-4], "server")),
        ("cpu", ("start_thread", "CompileBroker::x", "Phase::y"), ("JIT compiler", "JIT compiler")),
        (
            "cpu",
            ("start_thread", "CompileBroker::x", "C2Compiler::y", "clear_page_erms_[k]"),
            ("JIT compiler", "JIT compiler"),
        ),
        ("cpu", ("ret_from_fork_[k]", "kthread_[k]"), ("JVM and native code", "other")),
        ("cpu", ("start_thread", "VMThread::run"), ("JVM and native code", "other")),
    ],
)
def test_a_cost_is_put_to_the_innermost_method(event: Event, stack: Stack, method: tuple[str, str]) -> None:
    assert own_method(event, stack) == method


def profile(seed: int, extra: int = 0, requests: float = 500.0, slices: int = 12) -> ProfileData:
    """A server of 30 methods with noise; `extra` nanoseconds per request in one of them."""
    generator = random.Random(seed)
    made: list[Counter[Stack]] = []
    for _ in range(slices):
        stacks: Counter[Stack] = Counter(
            {
                (LIBERTY, f"shop/Service.step{n}_[j]"): round(generator.gauss(2000 + 100 * n, 300) * requests)
                for n in range(30)
            }
        )
        stacks[LIBERTY, SHOP] = round(generator.gauss(1000 + extra, 100) * requests)
        made.append(stacks)
    return ProfileData("cpu", made, [requests] * slices)


def test_the_method_that_changed_is_the_first_and_its_interval_holds_the_change() -> None:
    first, *others = changes(profile(1), profile(2, extra=1500, requests=800.0))
    assert first.method == "shop/Cart.total"
    assert first.area == "application"
    assert first.low < 1_500_000 < first.high, "ns per 1,000 requests, though the arms served unequally many"
    assert first.difference > 3 * abs(others[0].difference)


def test_of_two_profiles_of_the_same_few_intervals_leave_nothing_out() -> None:
    compared = [
        change for seed in range(40) for change in changes(profile(seed), profile(seed + 100), most=31)
    ]
    beyond = sum(change.low > 0 or change.high < 0 for change in compared)
    # 12 slices: the bootstrap's intervals are a little short of their 95 %.
    assert 0.02 < beyond / len(compared) < 0.10


def test_areas_add_up_to_the_whole() -> None:
    data = profile(1)
    whole = sum(sum(stacks.values()) for stacks in data.slices) * 1000 / sum(data.requests)
    assert sum(cost_by_area(data).values()) == pytest.approx(whole)
