# SPDX-License-Identifier: Apache-2.0
"""Which way requests go, by recorded trees of /proc and /sys; and which scheduler a kernel has."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from builders import make_component, make_spec

from steelyard.engines.base import Running
from steelyard.host.network import network_path
from steelyard.host.scheduler import scheduler
from steelyard.host.system import System
from steelyard.session.trial_run import TrialRun

CLIENT, SERVER = 100, 200


def process(root: Path, pid: int | str, space: int, **links: dict[str, str]) -> None:
    """A process in a network namespace, and the links that it sees."""
    folder = root / "proc" / str(pid)
    (folder / "ns").mkdir(parents=True)
    (folder / "ns" / "net").symlink_to(f"net:[{space}]")
    net = folder / "root" / "sys" / "class" / "net"
    (net / "lo").mkdir(parents=True)
    write(net / "lo", ifindex="1", iflink="1")
    for name, files in links.items():
        write(net / name, **files)


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(f"{content}\n", encoding="utf-8")


def path(root: Path) -> str | None:
    return network_path([CLIENT], [SERVER], System(root))


@pytest.mark.parametrize(("client", "server", "expected"), [(1, 1, "host"), (2, 2, "one namespace")])
def test_processes_of_one_namespace(tmp_path: Path, client: int, server: int, expected: str) -> None:
    process(tmp_path, "self", 1)
    process(tmp_path, CLIENT, client)
    process(tmp_path, SERVER, server)
    assert path(tmp_path) == expected


@pytest.mark.parametrize(("bridged", "expected"), [(True, "bridge"), (False, "veth")])
def test_a_pair_of_links_leads_to_a_bridge_or_elsewhere(tmp_path: Path, bridged: bool, expected: str) -> None:
    process(tmp_path, "self", 1)
    process(tmp_path, CLIENT, 1)
    process(tmp_path, SERVER, 2, eth0={"ifindex": "2", "iflink": "7"})
    write(tmp_path / "sys/class/net/veth1a", ifindex="7")
    write(tmp_path / "sys/class/net/br-lan", ifindex="3")
    if bridged:
        (tmp_path / "sys/class/net/veth1a/brport").mkdir()
    assert path(tmp_path) == expected


@pytest.mark.parametrize(
    ("program", "expected"), [("pasta.avx2", "pasta"), ("slirp4netns", "slirp4netns"), ("bash", "tap")]
)
def test_rootless_containers_have_a_tap_that_a_program_holds(
    tmp_path: Path, program: str, expected: str
) -> None:
    process(tmp_path, "self", 1)
    process(tmp_path, CLIENT, 1)
    process(tmp_path, SERVER, 2, tap0={"ifindex": "2", "iflink": "2", "tun_flags": "0x5002"})
    write(tmp_path / "proc/42", comm=program)
    assert path(tmp_path) == expected


def test_both_ends_may_have_a_way_of_their_own(tmp_path: Path) -> None:
    process(tmp_path, "self", 1)
    process(tmp_path, CLIENT, 2, eth0={"ifindex": "2", "iflink": "9"})
    process(tmp_path, SERVER, 3, tap0={"ifindex": "2", "iflink": "2", "tun_flags": "0x5002"})
    write(tmp_path / "proc/42", comm="pasta")
    assert path(tmp_path) == "pasta+veth"


def test_what_cannot_be_read_is_not_told(tmp_path: Path) -> None:
    process(tmp_path, "self", 1)
    process(tmp_path, CLIENT, 1)
    assert path(tmp_path) is None
    assert network_path([], [CLIENT], System(tmp_path)) is None


def test_processes_of_this_host_use_its_loopback() -> None:
    assert network_path(["self"], ["self"]) == "host"  # type: ignore[list-item]


EEVDF = "0000000000000000 t update_curr_fair\n0000000000000000 T avg_vruntime\n"
CFS = "0000000000000000 t update_curr_fair\n0000000000000000 t place_entity\n"


@pytest.mark.parametrize(
    ("functions", "release", "expected"),
    [
        (EEVDF, "5.14.0", "EEVDF"),
        (CFS, "6.12.1", "CFS"),
        (None, "6.6.1-vendor", "EEVDF"),
        (None, "5.14.0-611.el9", "CFS"),
        ("0000000000000000 t nothing_of_it\n", "6.5", "CFS"),
        (None, "", None),
    ],
)
def test_the_scheduler_by_the_kernels_functions_else_by_its_release(
    tmp_path: Path, functions: str | None, release: str, expected: str | None
) -> None:
    write(tmp_path / "proc/sys/kernel", osrelease=release)
    if functions is not None:
        (tmp_path / "proc/kallsyms").write_text(functions, encoding="ascii")
    assert scheduler(System(tmp_path)) == expected


@pytest.mark.parametrize(("state", "expected"), [("enabled", "sched_ext lavd"), ("disabled", "CFS")])
def test_a_loaded_scheduler_has_its_name(tmp_path: Path, state: str, expected: str) -> None:
    write(tmp_path / "proc/sys/kernel", osrelease="6.1")
    write(tmp_path / "sys/kernel/sched_ext", state=state)
    write(tmp_path / "sys/kernel/sched_ext/root", ops="lavd")
    assert scheduler(System(tmp_path)) == expected


def test_a_trial_asks_once_injectors_and_servers_run() -> None:
    """Whichever is started first; a database of theirs is no end of the path."""
    spec = make_spec(
        components=[make_component(), make_component("database"), make_component("injector")],
        entry=["server-1"],
    )
    injector, server = spec.injectors[0], spec.servers[0]
    own = os.getpid()
    running = [Running(injector, [own], 0.0)]
    deployment = SimpleNamespace(remote=False, started_components=lambda: running)
    run = SimpleNamespace(spec=spec, deployment=deployment)
    assert TrialRun._find_network_path(run) == ""  # type: ignore[arg-type]
    running.append(Running(server, [own], 0.0))
    assert TrialRun._find_network_path(run) == "host"  # type: ignore[arg-type]
    deployment.remote = True
    assert TrialRun._find_network_path(run) == "pods"  # type: ignore[arg-type]
