# SPDX-License-Identifier: Apache-2.0
"""Every parser, on texts of another format than today's: it tells what is true, or that it does not know."""

import contextlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import changed as ch
import pytest
import trees
from hypothesis import example, given
from hypothesis import strategies as st

from steelyard.engines.compose.project import RunningContainer
from steelyard.engines.kubernetes import pods
from steelyard.engines.kubernetes.api import Proxy
from steelyard.engines.kubernetes.cluster import Cluster, find_cluster
from steelyard.errors import SteelyardError
from steelyard.host.cpus import parse_cpu_list, read_cpus, read_layout
from steelyard.host.docker import Docker, find_docker
from steelyard.host.java import find_maven, vm_flags
from steelyard.host.ports import Ephemeral
from steelyard.host.system import System
from steelyard.images import bake
from steelyard.jvm.class_cache import cache_figures
from steelyard.jvm.identity import parse_identity
from steelyard.jvm.options import hotspot_facts, openj9_facts
from steelyard.measure.gc_log import GcLog, GcTotals, read_gc_logs
from steelyard.measure.jit_log import JitLog, read_jit_logs
from steelyard.sampling import cgroup
from steelyard.sampling.counters import parse_counters, parse_metrics
from steelyard.sampling.procfs import (
    parse_comm_and_ticks,
    parse_host_cpu,
    parse_schedstat,
    parse_stat,
    status_number,
)
from steelyard.sampling.smaps import parse_smaps
from steelyard.session.profilers import require_profilers

FIXTURES = Path(__file__).parents[1] / "fixtures"


def fixture(name: str) -> str:
    return (FIXTURES / name).read_text(encoding="utf-8")


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def only_known(told: Mapping[str, Any], true: Mapping[str, Any]) -> None:
    """Nothing else is told than what is true."""
    assert told.items() <= true.items()


def true_or_refused(parse: Callable[[Any], object], text: object, true: object) -> None:
    try:
        told = parse(text)
    except (ValueError, SteelyardError):
        return
    assert told in (true, None)


# GC and JIT logs


def gc_log(text: str) -> GcLog:
    with folder() as place:
        (place / "gc.log").write_text(text, encoding="utf-8")
        return read_gc_logs([place / "gc.log"])


SIZES = ("", "K", "kB", "KB", "M", "G")
"""Units of sizes in a GC log: with another one throughout it is the log of another heap."""


@pytest.mark.parametrize("name", ["hotspot17-parallel", "hotspot25-g1", "openj9-gencon-truncated"])
@given(st.data())
def test_gc_logs(name: str, data: st.DataObject) -> None:
    text = fixture(f"gc/{name}.txt")
    changes = ch.changed(text, ch.cut, ch.in_other_units) | ch.in_other_units(text, SIZES)
    true, log = gc_log(text), gc_log(data.draw(changes))
    if log.unknown is None:
        assert log.pauses == true.pauses
    assert log.unknown is None or log.totals(0, 4e9) == GcTotals()
    assert log.allocated in ((), true.allocated)
    told = {key: value for key, value in vars(log.settings).items() if value is not None}
    told.pop("policy", None)  # a name, which may be any
    only_known(told, vars(true.settings))


@pytest.mark.parametrize("name", ["hotspot17-serial", "openj9-gencon-truncated"])
@given(st.data())
def test_gc_logs_that_were_cut_off(name: str, data: st.DataObject) -> None:
    text = fixture(f"gc/{name}.txt")
    true, log = gc_log(text), gc_log(data.draw(ch.cut(text)))
    # The last section of OpenJ9's may have been cut off within: of it the collections that ended are known.
    assert log.pauses[:-1] == true.pauses[: max(0, len(log.pauses) - 1)]
    assert log.allocated == true.allocated[: len(log.allocated)]


def jit_log(text: str) -> JitLog:
    with folder() as place:
        (place / "jit.log").write_text(text, encoding="utf-8")
        return read_jit_logs([place / "jit.log"])


@given(st.data())
def test_jit_logs(data: st.DataObject) -> None:
    text = "".join(fixture("jit/client-21.txt").splitlines(keepends=True)[:12])
    true = jit_log(text)
    # A method's name and the words after its address are free text to the log's reader.
    log = jit_log(data.draw(ch.in_other_units(text) | ch.without_a_number(text) | ch.GARBAGE))
    if log.is_known:
        assert (log.remote, log.local, log.cached) == (true.remote, true.local, true.cached)
    cut = jit_log(data.draw(ch.cut(text)))
    assert cut.remote <= true.remote
    assert cut.local <= true.local


# JVMs


@given(ch.changed(fixture("jvm/flags-g1-25.txt"), ch.cut, ch.renamed, ch.without_a_word))
def test_vm_flags(text: str) -> None:
    told, true = hotspot_facts(text), hotspot_facts(fixture("jvm/flags-g1-25.txt"))
    only_known({key: value for key, value in told.items() if isinstance(value, int)}, true)


@given(ch.cut(fixture("jvm/flags-g1-25.txt")))
def test_vm_flags_that_were_cut_off(text: str) -> None:
    with folder() as home:
        (home / "bin").mkdir()
        (home / "flags").write_text(text, encoding="utf-8")
        (home / "bin" / "jcmd").write_text(f"#!/bin/sh\nexec cat {home}/flags\n", encoding="utf-8")
        (home / "bin" / "jcmd").chmod(0o755)
        assert vm_flags(str(home), 1) == ""


INFO = {
    "memory": {"GCMode": "-Xgcpolicy:gencon", "MaxHeapSize": 536870912, "MinHeapSize": 1048576},
    "memoryPools": {"nursery-allocate": 1048576, "nursery-survivor": 524288, "tenured": 4},
}
VALUES = st.none() | st.booleans() | st.floats() | st.text() | st.lists(st.integers())


@given(st.data())
def test_openj9_s_account(data: st.DataObject) -> None:
    info: dict[str, Any] = json.loads(json.dumps(INFO))
    part = data.draw(st.sampled_from(sorted(info)))
    name = data.draw(st.sampled_from([None, *info[part]]))
    odd = data.draw(VALUES.filter(lambda value: not re.fullmatch(r"[0-9]+", str(value))))
    if name is None:
        info[part] = odd
    elif data.draw(st.booleans()):
        info[part][name] = odd
    elif name.startswith("nursery"):
        return  # a collector may have fewer pools
    else:
        del info[part][name]
    told = openj9_facts(info)
    only_known({key: told[key] for key in told.keys() - {"gc"}}, openj9_facts(INFO))


@given(ch.changed(fixture("jvm/openj9.txt"), ch.in_other_units, ch.without_a_number))
def test_what_a_jvm_is(text: str) -> None:
    true = parse_identity(fixture("jvm/openj9.txt"))
    with contextlib.suppress(ValueError):
        told = parse_identity(text)
        assert (told.kind, told.feature) == (true.kind, true.feature)


@given(ch.changed(fixture("jvm/printstats-21.txt"), ch.in_other_units))
def test_class_caches(text: str) -> None:
    only_known(cache_figures(text), cache_figures(fixture("jvm/printstats-21.txt")))


# /proc, control groups, /sys

STAT = (
    "25531 (Start Level: (x) y) S 1 25095 1738 0 -1 4194368 5598 23004 796 10 91 21 16 2 20 0 70 0 660628"
    " 2397241344 71387 18446744073709551615 0 0\n"
)
STATUS = (
    "Name:\tjava\nVmRSS:\t  436008 kB\nHugetlbPages:\t    2048 kB\nThreads:\t75\n"
    "voluntary_ctxt_switches:\t146\nnonvoluntary_ctxt_switches:\t7\n"
)


@given(ch.cut(STAT[: STAT.rindex(" 0 0")]) | ch.without_a_number(STAT) | ch.GARBAGE)
def test_stat(text: str) -> None:
    stat, ticks = parse_stat(STAT.encode()), parse_comm_and_ticks(STAT.encode())
    line = text.encode(errors="replace")
    if (told := _refused_as_none(parse_stat, line)) is not None and text.count(" ") >= STAT.count(" "):
        assert told._replace(state=b"S") == stat
    if (pair := _refused_as_none(parse_comm_and_ticks, line)) is not None:
        assert pair[1] == ticks[1]


def _refused_as_none(parse: Callable[[bytes], Any], line: bytes) -> Any:
    try:
        return parse(line)
    except ValueError:
        return None


@pytest.mark.parametrize("field", ["VmRSS", "HugetlbPages", "voluntary_ctxt_switches", "VmSwap"])
@given(ch.changed(STATUS))
def test_status(field: str, text: str) -> None:
    told = status_number(text.encode(errors="replace"), field.encode())
    assert told in (None, status_number(STATUS.encode(), field.encode()))


CPU = "cpu  40027 10 7567 221944 560 40 483 152 30 0\ncpu0 20013 5 3783 110972 280 20 241 76 15 0\n"


@given(ch.cut(CPU) | ch.without_a_number(CPU) | ch.renamed(CPU) | ch.GARBAGE)
def test_host_cpu(text: str) -> None:
    true_or_refused(parse_host_cpu, text.encode(errors="replace"), parse_host_cpu(CPU.encode()))


@given(ch.changed("123456 7890 12\n"))
def test_schedstat(text: str) -> None:
    assert parse_schedstat(text.encode(errors="replace")) in (None, (123456, 7890))


MEMBERSHIP = "12:cpu,cpuacct:/a/b\n3:memory:/m\n0::/x\n"
MOUNTS = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
EVENTS = "low 0\nhigh 3\nmax 17\noom 1\noom_kill 2\n"


@given(ch.changed(MEMBERSHIP, ch.cut, ch.renamed), ch.changed(MOUNTS, ch.cut, ch.renamed))
def test_control_groups_are_found_or_not(membership: str, mounts: str) -> None:
    only_known(
        {name: path for name, path in cgroup.parse_membership(membership).items() if path.startswith("/")},
        {**cgroup.parse_membership(MEMBERSHIP), **cgroup.parse_membership(membership)},
    )
    for point, _ in cgroup.parse_mounts(mounts):
        assert isinstance(point, str)


@pytest.mark.parametrize(
    ("text", "key"), [(EVENTS, "oom_kill"), ("4096\n", ""), ("usage_usec 77\n", "usage_usec")]
)
@given(data=st.data())
def test_numbers_of_control_groups(text: str, key: str, data: st.DataObject) -> None:
    told = cgroup.number(data.draw(ch.changed(text)).encode(errors="replace"), key.encode())
    expected = cgroup.number(text.encode(), key.encode())
    assert told in (None, expected)


@pytest.mark.parametrize("file", ["memory.max", "memory.high", "cpu.max"])
@given(data=st.data())
def test_limits(file: str, data: st.DataObject) -> None:
    texts = {"memory.max": "1073741824\n", "memory.high": "536870912\n", "cpu.max": "50000 100000\n"}
    pid = os.getpid()
    with folder() as root:
        trees.put(root, f"proc/{pid}/cgroup", "0::/one")
        trees.put(root, "proc/self/mountinfo", MOUNTS)
        written = {**texts, file: data.draw(ch.without_a_number(texts[file]) | ch.renamed(texts[file] + "x"))}
        for name, text in {**written, "cgroup.procs": str(pid)}.items():
            trees.put(root, f"sys/fs/cgroup/one/{name}", text)
        at = str(root)
        true_or_refused(lambda _: cgroup.memory_limit(pid, at), None, 1 << 30)
        true_or_refused(lambda _: cgroup.memory_high(pid, at), None, 1 << 29)
        true_or_refused(lambda _: cgroup.cpu_quota(pid, at), None, 0.5)


@given(st.data())
def test_maps_of_memory(data: st.DataObject) -> None:
    text = fixture("smaps/hotspot-small-17.txt")
    areas = re.split(r"(?m)^(?=[0-9a-f]+-[0-9a-f]+ )", text)
    few = "".join(areas[:4])
    true = parse_smaps(few)
    assert true
    told = parse_smaps(data.draw(ch.changed(few, ch.without_a_word)))
    assert told == [] or [one._replace(name="") for one in told] == [
        one._replace(name="") for one in true[: len(told)]
    ]


@given(ch.changed("0-3,8,10-11\n", ch.cut, ch.without_a_word) | st.sampled_from(["3-1", "1-", "-1", "0-3;8"]))
def test_lists_of_cpus(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert (
            set(parse_cpu_list(text)) <= {0, 1, 2, 3, 8, 10, 11} | ({1} if text == "1,2,3" else set()) or text
        )


@given(ch.changed("0-3,8,10-11\n", ch.cut, ch.without_a_word) | st.sampled_from(["3-1", "1-", "-1", "0-3;8"]))
def test_files_with_lists_of_cpus(text: str) -> None:
    with folder() as root:
        trees.put(root, f"{trees.CPU}/online", text)
        assert set(read_cpus(System(root), f"{trees.CPU}/online")) <= set(range(12))


@pytest.mark.parametrize("name", ["thread_siblings_list", "physical_package_id", "core_id"])
@given(ch.GARBAGE.filter(lambda text: not re.search(r"\d", text)))
def test_a_topology_that_cannot_be_read_is_refused_or_each_cpu_is_a_core(name: str, text: str) -> None:
    with folder() as root:
        trees.cpus(root, [[0, 2], [1, 3]])
        true = read_layout(root, allowed=range(4))
        trees.put(root, f"{trees.CPU}/cpu1/topology/{name}", text)
        with contextlib.suppress(ValueError):
            told = read_layout(root, allowed=range(4))
            assert told.cpus == true.cpus or set(told.cpus) == set(true.cpus)


@given(ch.changed("32768\t60999\n", ch.cut))
def test_ranges_of_ports(text: str) -> None:
    with folder() as root:
        trees.put(root, "proc/sys/net/ipv4/ip_local_port_range", text)
        assert Ephemeral.of(System(root)) in (None, (32768, 60999, frozenset()))


MEMINFO = "MemTotal:       16384 kB\nSwapTotal:      0 kB\n"


@given(ch.changed(MEMINFO, ch.cut))
def test_meminfo(text: str) -> None:
    with folder() as root:
        trees.put(root, "proc/meminfo", text)
        assert System(root).memory("MemTotal") in (None, 16384 * 1024)


# Clients and tools


@contextlib.contextmanager
def tool(name: str, printed: str, code: int = 0) -> Iterator[dict[str, str]]:
    """An environment whose PATH has a program that prints something, whatever it is asked."""
    with folder() as place:
        (place / "printed").write_text(printed, encoding="utf-8")
        cat = shutil.which("cat")
        path = place / name
        path.write_text(f"#!/bin/sh\n{cat} {place}/printed\nexit {code}\n", encoding="utf-8")
        path.chmod(0o755)
        with mock.patch("steelyard.processes.client.KEPT", place / "failed"):
            yield {"PATH": str(place)}


@given(ch.changed("2500m") | ch.changed("2") | st.sampled_from(["1_0", "nan", "inf", "-1", "1e999"]))
def test_cpus_of_kubernetes(text: str) -> None:
    given_now = {"limits": {"cpu": text}}
    pod = {"spec": {"containers": [{"name": "server", "resources": given_now}]}, "metadata": {}}
    with contextlib.suppress(ValueError):
        told = pods.cpu_limit(pod, "server")
        assert told is not None
        assert re.fullmatch(r"[0-9.eE]+m?", text), text


@given(
    ch.changed("512Mi") | ch.changed("1000") | st.sampled_from(["512mi", "1_0", "nan", "inf", "-1", "5 Gi"])
)
def test_sizes_of_kubernetes(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert pods.quantity(text) >= 0
        assert re.fullmatch(r"[0-9.eE]+([KMGTPE]i?|[km])?", text), text


VERSIONS = ('{"clientVersion": {"gitVersion": "v1.31.2"}}', '{"gitVersion": "v1.30.1"}')


@given(ch.changed(VERSIONS[0], ch.in_other_units), ch.changed(VERSIONS[1], ch.in_other_units))
@example(*VERSIONS)
def test_kubernetes_version(client: str, server: str) -> None:
    def version(printed: str) -> str:
        answer = mock.patch.object(Proxy, "request", return_value=server.encode())
        with tool("kubectl", printed) as environment, answer:
            return find_cluster(environment=environment).version

    if (client, server) == VERSIONS:
        assert version(client) == "v1.30.1"
    elif server == VERSIONS[1]:
        true_or_refused(version, client, "v1.30.1")
    else:
        with contextlib.suppress(SteelyardError):
            assert re.match(r"v\d+\.\d+", version(VERSIONS[0]))


@given(ch.GARBAGE)
def test_kubernetes_objects(text: str) -> None:
    answer = mock.patch.object(Proxy, "request", return_value=text.encode(errors="surrogateescape"))
    with answer, contextlib.suppress(SteelyardError):
        assert Cluster(Path("kubectl"), "c", Proxy([])).objects("pods") == []


DOCKER = '{"Client":{"Version":"28.2.2"},"Server":{"Version":"26.1.5+dfsg1","ApiVersion":"1.45"}}'
INSPECTED = (
    '{"Id": "a1", "Created": "2026-11-25T09:59:59Z", "State": {"Pid": 7, "StartedAt": "2026-11-25T10:00:00Z"},'
    ' "HostConfig": {"Memory": 1048576}}'
)


@given(ch.changed(DOCKER, ch.renamed, ch.in_other_units))
def test_docker_s_version(text: str) -> None:
    with tool("docker", text) as environment, contextlib.suppress(SteelyardError):
        find_docker(environment)
        pytest.fail("compose printed the same, which is no version")


@given(ch.changed(INSPECTED))
def test_docker_s_containers(text: str) -> None:
    with (
        tool("docker", f"[{text}]") as environment,
        contextlib.suppress(SteelyardError),
        mock.patch("os.pidfd_open", side_effect=ProcessLookupError),
    ):
        docker = Docker(Path(environment["PATH"]) / "docker", "", "")
        told = RunningContainer(docker, "server", docker.inspect("container", ["x"])[0], Path("/nonexistent"))
        assert (told.pid, told.creation, told.started) == (7, 1795600799.0, 1795600800.0)


@given(ch.changed("Apache Maven 3.9.6 (x)\nMaven home: /usr/share/maven\n", ch.cut, ch.in_another_language))
def test_maven_s_version(text: str) -> None:
    with tool("mvn", text) as environment, contextlib.suppress(SteelyardError):
        find_maven(Path("/jdk"), environment)
        assert "Apache Maven 3.9" in text


@given(ch.GARBAGE.filter(lambda text: len(text.split()) != 2))
def test_git_s_commit(text: str) -> None:
    with (
        tool("git", text) as environment,
        mock.patch.dict(os.environ, environment),
        mock.patch.object(bake, "fingerprint", return_value="f"),  # which git has no part in
    ):
        assert bake.variables()["REVISION"] == "unknown"


@pytest.mark.parametrize("code", [1, 2, 255])
@given(ch.GARBAGE)
def test_perf_that_cannot_record(code: int, text: str) -> None:
    with (
        tool("perf", text, code) as environment,
        mock.patch.dict(os.environ, environment),
        pytest.raises(SteelyardError, match="perf cannot record this host"),
    ):
        require_profilers(["perf"], [], searches=False)


# What components tell of themselves

COUNTERS = '{"epochMillis": 1700000000, "operations": {"ping": {"requests": 70, "errors": 1, "serviceTimeNanos": 5}}}'


@given(ch.changed(COUNTERS))
def test_counters(text: str) -> None:
    true = parse_counters(COUNTERS.encode())
    with contextlib.suppress(ValueError):
        when, counts = parse_counters(text.encode(errors="replace"))
        assert when in (None, true[0])
        assert [one._replace(operation="ping") for one in counts] in ([], true[1])


@given(ch.changed("relay_delay_seconds 0.25\nup 1\n", ch.cut, ch.without_a_word))
def test_figures(text: str) -> None:
    with contextlib.suppress(ValueError):
        _, told = parse_metrics(text.encode(errors="replace"))
        assert {one.value for one in told} <= {0.25, 1.0}
