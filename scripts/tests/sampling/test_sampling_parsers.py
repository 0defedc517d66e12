# SPDX-License-Identifier: Apache-2.0
"""The sampler's small parsers: /proc files, HTTP answers, counters, its configuration."""

import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from steelyard.sampling import sampler
from steelyard.sampling.config import parse_config
from steelyard.sampling.counters import Count, Figure, parse_answer, parse_counters, parse_metrics
from steelyard.sampling.machine import forwarders, parse_cpu_lines
from steelyard.sampling.output import Tables, text
from steelyard.sampling.procfs import (
    CLOCK_TICKS,
    HostCpu,
    Totals,
    cpu_clock,
    interrupts_apart,
    parse_comm_and_ticks,
    parse_host_cpu,
    parse_stat,
    status_number,
)

STAT = (
    b"25531 (Start Level: (x) y) S 1 25095 1738 0 -1 4194368 5598 23004 796 10 91 21 16 2 20 0 70 0 660628"
    b" 2397241344 71387 18446744073709551615 0 0"
)
STATUS = (
    b"Name:\tjava\nVmRSS:\t  436008 kB\nHugetlbPages:\t    2048 kB\nThreads:\t75\n"
    b"voluntary_ctxt_switches:\t146\nnonvoluntary_ctxt_switches:\t7\nx86_Thread_features:\t\n"
)


def test_stat_of_a_name_with_spaces_and_brackets() -> None:
    stat = parse_stat(STAT)
    assert (stat.state, stat.threads, stat.start) == (b"S", 70, 660628)
    assert (stat.own.minor_faults, stat.own.major_faults) == (5598, 796)
    assert (stat.own.user, stat.own.system) == (91, 21)
    assert parse_comm_and_ticks(STAT) == (b"Start Level: (x) y", 112)


def test_status() -> None:
    assert status_number(STATUS, b"VmRSS") == 436008
    assert status_number(STATUS, b"HugetlbPages") == 2048
    assert status_number(STATUS, b"VmSwap") is None
    assert status_number(STATUS, b"voluntary_ctxt_switches") == 146
    assert status_number(STATUS, b"nonvoluntary_ctxt_switches") == 7


def test_host_cpu() -> None:
    cpu = parse_host_cpu(b"cpu  40027 10 7567 221944 560 40 483 152 30 0\n")
    assert cpu.tasks == pytest.approx((40027 + 10 + 7567) / CLOCK_TICKS)
    assert cpu.busy == pytest.approx(cpu.tasks + (40 + 483) / CLOCK_TICKS)
    assert cpu.idle == pytest.approx((221944 + 560) / CLOCK_TICKS)
    assert cpu.steal == pytest.approx(152 / CLOCK_TICKS)


def test_the_clock_of_a_process_is_finer_than_ticks_and_ends_with_it() -> None:
    program = [sys.executable, "-c", "print(flush=True); input()"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout
        child.stdout.readline()  # it runs
        assert (cpu_clock(child.pid) or 0.0) > 0.0
        assert child.stdin
        child.stdin.close()
    assert cpu_clock(child.pid) is None
    assert cpu_clock(os.getpid()) == pytest.approx(time.process_time(), abs=0.05)


@pytest.mark.parametrize(("apart", "used"), [(True, 2.3), (False, 2.5)])
def test_what_processes_used_is_what_idle_cpus_leave(apart: bool, used: float) -> None:
    """Of 2 CPUs in 5 s; what the timer's ticks saw (user, nice, system) has no part in it."""
    before, after = (
        parse_host_cpu(f"cpu  {ticks} 0 {ticks} {idle} 100 10 {10 + irq} {7 + stolen} 0 0\n".encode())
        for ticks, idle, irq, stolen in ((50, 1000, 0, 0), (999, 1700, 20, 50))
    )
    grown = after.used_seconds(105.0, 2, interrupts_apart=apart) - before.used_seconds(
        100.0, 2, interrupts_apart=apart
    )
    assert grown * CLOCK_TICKS / 100 == pytest.approx(used)


@pytest.mark.parametrize(
    ("options", "apart"),
    [
        ("CONFIG_TICK_CPU_ACCOUNTING=y\nCONFIG_IRQ_TIME_ACCOUNTING=y", True),
        ("CONFIG_VIRT_CPU_ACCOUNTING_NATIVE=y", False),
        ("CONFIG_VIRT_CPU_ACCOUNTING_GEN=y\n# CONFIG_IRQ_TIME_ACCOUNTING is not set", False),
        ("CONFIG_IRQ_TIME_ACCOUNTING: y", None),
        ("", None),
    ],
)
def test_interrupt_time_by_the_kernels_configuration(
    tmp_path: Path, options: str, apart: bool | None
) -> None:
    (tmp_path / "proc").mkdir()
    packed = gzip.compress(f"CONFIG_X=y\n{options}\n".encode())
    (tmp_path / "proc/config.gz").write_bytes(packed)
    assert interrupts_apart(tmp_path) is apart
    (tmp_path / "proc/config.gz").write_bytes(packed[:-12])
    assert interrupts_apart(tmp_path) is None


def test_interrupt_time_where_the_configuration_lies_in_boot_or_nowhere(tmp_path: Path) -> None:
    assert interrupts_apart(tmp_path) is None
    (tmp_path / "boot").mkdir()
    (tmp_path / f"boot/config-{os.uname().release}").write_text(
        "CONFIG_TICK_CPU_ACCOUNTING=y\n", encoding="ascii"
    )
    assert interrupts_apart(tmp_path) is False


@pytest.mark.parametrize(
    ("names", "apart"),
    [
        ("irqtime_account_irq", True),  # CONFIG_IRQ_TIME_ACCOUNTING
        # CONFIG_VIRT_CPU_ACCOUNTING_NATIVE of POWER and s390: user and system time are without, the clock is not.
        ("vtime_flush", False),
        ("vtime_account_kernel", False),  # CONFIG_VIRT_CPU_ACCOUNTING_GEN, which does not keep them apart
        ("my_irqtime_account_irq_of", False),
    ],
)
def test_interrupt_time_by_the_kernels_functions(tmp_path: Path, names: str, apart: bool) -> None:
    (tmp_path / "proc").mkdir()
    lines = ["account_user_time", names, "main\t[module]"]
    text = "".join(f"0000000000000000 T {name}\n" for name in lines)
    (tmp_path / "proc/kallsyms").write_text(text, encoding="ascii")
    assert interrupts_apart(tmp_path) is apart
    # A list that is not the kernel's tells nothing.
    (tmp_path / "proc/kallsyms").write_text(text.partition("\n")[2], encoding="ascii")
    assert interrupts_apart(tmp_path) is None


@pytest.mark.parametrize(("told", "apart"), [(True, True), (False, False), (None, False)])
def test_interrupts_that_are_not_known_to_be_nobodys_count_as_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: bool | None, apart: bool
) -> None:
    asked = []

    def used(_cpu: HostCpu, _seconds: float, _cpus: int, *, interrupts_apart: bool) -> float:
        asked.append(interrupts_apart)
        return 0.0

    monkeypatch.setattr(sampler, "interrupts_apart", lambda: told)
    monkeypatch.setattr(HostCpu, "used_seconds", used)
    (tmp_path / "sampler.json").write_text(
        '{"processes": [], "output": "samples", "interval": 1}', encoding="utf-8"
    )
    wake, woken = os.pipe()
    os.close(woken)
    sampler.Sampler(tmp_path / "sampler.json", wake, Tables(tmp_path / "samples")).run()
    os.close(wake)
    assert set(asked) == {apart}
    notes = (tmp_path / "samples/notes.csv").read_text(encoding="utf-8")
    assert ("interrupts" in notes) is (told is None)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize("length", [b"Content-Length: 5", b"content-length:5"])
def test_answers_arrive_in_pieces(length: bytes) -> None:
    answer = HEAD + length + b"\r\n\r\nhello"
    for cut in range(len(answer)):
        assert parse_answer(answer[:cut], closed=False) is None
    assert parse_answer(answer, closed=False) == (b"hello", False)


def test_the_connection_is_kept_where_the_server_keeps_it() -> None:
    answer = HEAD + b"Connection: Keep-Alive\r\nContent-Length: 5\r\n\r\nhello"
    assert parse_answer(answer, closed=False) == (b"hello", True)


def test_answer_that_ends_with_the_connection() -> None:
    assert parse_answer(HEAD + b"\r\nhello", closed=False) is None
    assert parse_answer(HEAD + b"\r\nhello", closed=True) == (b"hello", False)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "closed the connection without a whole answer"),
        (HEAD, "closed the connection"),
        (HEAD + b"Content-Length: 9\r\n\r\nhello", "closed the connection"),
        (b"SSH-2.0-x\r\n\r\n", "not an HTTP answer"),
        (b"HTTP/1.1\r\n\r\n", "answered with status"),
        (b"HTTP/1.1 503 Busy\r\n\r\n", "answered with status 503"),
    ],
)
def test_what_is_no_answer_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_answer(data, closed=True)


def test_counters() -> None:
    body = {
        "uptimeNanos": 5,
        "epochMillis": 1795178044562,
        "operations": {"ping": {"requests": 7, "errors": 1, "serviceTimeNanos": 2_000_000_000}},
    }
    assert parse_counters(json.dumps(body).encode()) == (1795178044.562, [Count("ping", 7, 1, 2.0)])
    del body["epochMillis"]
    assert parse_counters(json.dumps(body).encode())[0] is None
    for wrong in (b"x", b"[]", b"{}", b'{"operations": {"ping": {"requests": 7}}}'):
        with pytest.raises(ValueError, match=r".+"):
            parse_counters(wrong)


def configuration(**changed: object) -> str:
    process = {"name": "server-1", "pid": 7, "role": "server", "counters_url": None}
    return json.dumps({"output": "out", "interval": 1.0, "processes": [process]} | changed)


def test_configuration() -> None:
    config = parse_config(configuration())
    assert (config.interval, config.parent, config.processes[0].pid) == (1.0, None, 7)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"processes": [{"name": "a", "pid": 1, "role": "server"}] * 2}, "differ"),
        ({"processes": [{"name": "sampler", "pid": 1, "role": "server"}]}, "differ"),
        ({"processes": [{"pid": 1}]}, "name"),
        ({"processes": 3}, "no sampler configuration"),
    ],
)
def test_wrong_configurations_are_refused(changed: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_config(configuration(**changed))


def test_text_fields_stay_one_field() -> None:
    assert text("plain") == "plain"
    assert text('a,"b"\nc') == '"a,""b"" c"'


def test_children_that_ended_keep_their_cpu_with_the_parent() -> None:
    stat = parse_stat(b"7 (a b) S 1 7 7 0 -1 0 5 0 6 0 100 20 30 4 20 0 9 0 777 0 0")
    assert (stat.own, stat.children) == (Totals(100, 20, 5, 6), Totals(30, 4, 0, 0))
    assert (stat.parent, stat.start) == (1, 777)


def test_figures_in_prometheus_text_format() -> None:
    """As a JITServer of OpenJ9 21 told them; labels belong to the name, a time after the value does not."""
    recorded = Path(__file__).parents[1] / "fixtures" / "jit" / "metrics.txt"
    assert parse_metrics(recorded.read_bytes()) == (
        None,
        [
            Figure("jitserver_cpu_utilization", 80.0),
            Figure("jitserver_available_memory", 21685477376.0),
            Figure("jitserver_connected_clients", 1.0),
            Figure("jitserver_active_threads", 7.0),
        ],
    )
    assert parse_metrics(b'a{le="x y"} 1 1700000000\nb NaN\n') == (None, [Figure('a{le="x y"}', 1.0)])
    # A brace within a label's value ends nothing, nor does a quotation mark that is escaped; a line ends all.
    names = ('a{uri="/owners/{ownerId}",outcome="OK"}', r'a{uri="\"}",b="{"}', "a{}", "a")
    body = "".join(f"{name} 1\n" for name in (*names[:2], 'broken{uri="/', *names[2:]))
    assert parse_metrics(body.encode()) == (None, [Figure(name, 1.0) for name in names])
    with pytest.raises(ValueError, match="no figures"):
        parse_metrics(b"# HELP a nothing\n")


STAT_OF_TWO = b"""cpu  300 3 60 700 8 2 10 4 0 0
cpu0 200 2 40 300 4 2 10 4 0 0
cpu1 100 1 20 400 4 0 0 0 0 0
intr 1 2 3
cpu2 10"""


def test_how_each_cpu_spent_its_time() -> None:
    assert parse_cpu_lines(STAT_OF_TWO) == {
        0: tuple(ticks / CLOCK_TICKS for ticks in (202, 40, 2, 10, 4, 304)),
        1: tuple(ticks / CLOCK_TICKS for ticks in (101, 20, 0, 0, 0, 404)),
    }


def test_programs_that_forward_the_network_of_containers_are_known_by_name(tmp_path: Path) -> None:
    for pid, name in ((7, b"pasta.avx2"), (8, b"docker-proxy"), (9, b"java"), (10, b"pastabar")):
        folder = tmp_path / str(pid)
        folder.mkdir()
        (folder / "comm").write_bytes(name + b"\n")
        (folder / "stat").write_bytes(STAT)
    (tmp_path / "sys").mkdir()
    found = dict(forwarders(tmp_path))
    assert found == {"pasta.avx2 7": 112 / CLOCK_TICKS, "docker-proxy 8": 112 / CLOCK_TICKS}
