# SPDX-License-Identifier: Apache-2.0
"""Stacks of perf as slices. The text is made up, true to what `perf script` writes."""

import pytest

from steelyard.analysis.profiles import own_method, read_stacks
from steelyard.session.perf_stacks import COST, frame_name, slices_of

SCRIPT = """\
http-nio-1 x 4711/4730  5000.250000: cpu-clock:ppp:
        c000000000a0c2f3 tcp_sendmsg ([kernel.kallsyms])
        c008000000a0c2f3 nft_do_chain ([nf_tables])
            7fff8a94ea7c __send (/usr/lib/powerpc64le-linux-gnu/libc.so.6)
            7fff7c0c1a20 void shop.Cart.total(int, java.lang.String[]) (/tmp/perf-4711.map)
            7fff7c0c0a20 Interpreter (/tmp/perf-4711.map)

C2 CompilerThre 4711/4720  5001.900000: cpu-clock:ppp:
            7fff8b94ea7c PhaseChaitin::Split(unsigned int, ResourceArea*) (/opt/jdk/lib/server/libjvm.so)

http-nio-1 x 4711/4730  5002.100000: cpu-clock:ppp:
            7fff7c0c1a20 void shop.Cart.total(int, java.lang.String[]) (/tmp/perf-4711.map)

GC Thread#12 4711/4721  5003.900000: cpu-clock:ppp:
            7fff8b94ea7c [unknown] (/opt/jdk/lib/server/libjvm.so)

sleep 9999/9999  5002.200000: cpu-clock:ppp:
            7fff8a94ea7c [unknown] ([unknown])

http-nio-2 4712/4731  5004.100000: cpu-clock:ppp:
            7fff7c0c1a20 shop/Cart.total(I)V_warm (/tmp/perf-4712.map)
"""
SERVERS = {4711: "server-1", 4712: "server-2"}


def test_samples_of_the_servers_lie_in_the_slices_of_their_time() -> None:
    slices = slices_of(SCRIPT, SERVERS, (5000.0, 5005.0), 2.0, ends_inside=False)
    total = "Interpreter;shop/Cart.total_[1]"
    sent = f"{total};__send;nft_do_chain_[k];tcp_sendmsg_[k] {COST}\n"
    compiled = f"C2 CompilerThre;PhaseChaitin::Split(unsigned int, ResourceArea*) {COST}\n"
    assert slices["server-1"] == [
        compiled + sent,
        f"GC Thread#;[unknown] {COST}\nshop/Cart.total_[1] {COST}\n",
    ]
    assert slices["server-2"] == ["", ""]
    start = slices_of(SCRIPT, SERVERS, (5000.0, 5005.0), 2.0, ends_inside=True)
    assert start["server-2"] == ["", "", f"shop/Cart.total_[1] {COST}\n"]


def test_they_are_read_as_those_of_the_other_sampler() -> None:
    first, _ = slices_of(SCRIPT, SERVERS, (5000.0, 5004.0), 2.0, ends_inside=False)["server-1"]
    methods = {own_method("cpu", stack) for stack in read_stacks(first)}
    assert methods == {("shop/Cart.total", "application"), ("JIT compiler", "JIT compiler")}


@pytest.mark.parametrize(
    ("symbol", "file", "name"),
    [
        ("void shop.Cart$$Lambda/0x7f00a8.run()", "/tmp/perf-1.map", "shop/Cart$$Lambda.run_[1]"),
        ("java.util.List Burn.<init>(int)", "/tmp/perf-1.map", "Burn.<init>_[1]"),
        ("vtable stub", "/tmp/perf-1.map", "vtable stub"),
        ("clear_page_erms", "/usr/lib/debug/boot/vmlinux", "clear_page_erms_[k]"),
        ("tcp_ack", "/lib/modules/6.1.0/kernel/net/tcp.ko.xz", "tcp_ack_[k]"),
        ("__kernel_clock_gettime", "[vdso]", "__kernel_clock_gettime"),
        ("[unknown]", "[unknown]", "[unknown]"),
        ("f<a;b>", "/usr/lib/x.so", "f<a,b>"),
    ],
)
def test_a_frame_is_named_as_by_the_other_sampler(symbol: str, file: str, name: str) -> None:
    assert frame_name(symbol, file) == name
