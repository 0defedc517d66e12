# SPDX-License-Identifier: Apache-2.0
"""One session at a time, and free ports."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trees

import steelyard
from steelyard.errors import BadInput, Busy, PortInUse
from steelyard.host.lock import host_lock, is_running, running_session
from steelyard.host.ports import free_first_port, free_port, held_ports, refuse_ephemeral, require_ports
from steelyard.host.system import System

SCRIPTS = Path(steelyard.__file__).parents[1]
HOLD = """
import sys
from steelyard.host.lock import host_lock
with host_lock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def lock() -> str:
    return f"steelyard-test-{os.getpid()}"


@pytest.fixture
def other_session(lock: str, request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    before, more = getattr(request, "param", ([], []))
    process = subprocess.Popen(
        [*before, sys.executable, "-c", HOLD, lock, *more],
        cwd=SCRIPTS,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    assert process.stderr
    if process.stdout.readline() != "held\n":
        pytest.skip(f"{before[0]} cannot be used here: {process.stderr.read()}")
    yield process
    process.stdin.close()
    process.kill()
    process.wait()
    process.stdout.close()
    process.stderr.close()


def refusal(lock: str) -> str:
    with pytest.raises(Busy) as caught, host_lock(lock):
        raise AssertionError("two sessions at once")
    return str(caught.value)


@pytest.mark.parametrize("other_session", [([], ["steelyard", "run", "theirs"])], indirect=True)
def test_second_session_is_refused_and_told_who_runs(lock: str, other_session: subprocess.Popen[str]) -> None:
    told = f"another Steelyard session (process {other_session.pid} of user "
    for _ in range(3):
        assert refusal(lock).startswith(told)
        assert ": steelyard run theirs) is running on this host" in refusal(lock)


def test_lock_of_a_killed_session_is_free(lock: str, other_session: subprocess.Popen[str]) -> None:
    other_session.kill()
    other_session.wait()
    with host_lock(lock):
        assert f"(process {os.getpid()} of user " in refusal(lock)
    with host_lock(lock):
        pass


def test_lock_is_free_after_an_error(lock: str) -> None:
    with pytest.raises(ZeroDivisionError), host_lock(lock):
        _ = 1 / 0
    with host_lock(lock):
        pass


RUN = """
import sys
from pathlib import Path
from steelyard.host.lock import running_session
with running_session(Path(sys.argv[1])):
    print("runs", flush=True)
    sys.stdin.read()
"""


def test_a_session_runs_until_its_process_has_ended_however_often_one_asks(tmp_path: Path) -> None:
    """A queue of those who ask would be full after as many as net.core.somaxconn says, 4,096 by default."""
    other = tmp_path / "other"
    other.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", RUN, str(tmp_path)],
        cwd=SCRIPTS,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as session:
        assert session.stdout is not None
        assert session.stdout.readline() == "runs\n"
        assert all(is_running(tmp_path) for _ in range(5000))
        assert not is_running(other)
        session.kill()
    assert not is_running(tmp_path)
    assert not is_running(tmp_path / "gone")
    with running_session(tmp_path):
        assert is_running(tmp_path)
    assert not is_running(tmp_path)


ODD = ["steelyard", "\x1b[31m[/x]\nsince 99:99", "x" * 5000]


@pytest.mark.parametrize("other_session", [([], ODD)], indirect=True)
def test_what_the_holder_says_of_itself_is_printed_as_plain_text(
    lock: str, other_session: subprocess.Popen[str]
) -> None:
    told = refusal(lock)
    assert told.isprintable()
    assert "\\x1b[31m[/x] since 99:99" in told
    assert len(told) < 400


def test_a_holder_who_answers_nobody_holds_up_nobody(lock: str) -> None:
    with socket.socket(socket.AF_UNIX) as holder, socket.socket(socket.AF_UNIX) as first:
        holder.bind(f"\0{lock}")  # and does not listen
        assert "another Steelyard session is running" in refusal(lock)
        holder.listen(0)
        first.connect(f"\0{lock}")  # the queue is full
        assert "another Steelyard session is running" in refusal(lock)


@pytest.mark.parametrize(
    "other_session",
    [
        pytest.param((["unshare", "--mount", "--pid", "--ipc", "--uts", "--fork"], []), id="container"),
        pytest.param((["setpriv", "--reuid=65534", "--clear-groups"], []), id="another user"),
    ],
    indirect=True,
)
def test_containers_on_the_network_of_the_host_and_other_users_share_the_lock(
    lock: str, other_session: subprocess.Popen[str]
) -> None:
    assert "another Steelyard session (process " in refusal(lock)
    holding = subprocess.run(
        ["setpriv", "--reuid=65534", "--clear-groups", sys.executable, "-c", HOLD, lock],
        cwd=SCRIPTS,
        input="",
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Busy: another Steelyard session (process " in holding.stderr


@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_port_in_use_names_the_process(family: socket.AddressFamily, address: str) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        try:
            listening.bind((address, port := free_port()))
        except OSError:
            pytest.skip("no IPv6 here")
        listening.listen()
        with pytest.raises(
            PortInUse, match=rf"port {port} is already in use by \S+ \(process {os.getpid()}\): "
        ):
            require_ports([port])
    require_ports([port])


def test_port_of_a_server_that_has_just_ended_is_free() -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port)) as listening:
        client = socket.create_connection(("127.0.0.1", port))
        served, _ = listening.accept()
        served.close()  # the server closes first, so its end lingers
        client.close()
    require_ports([port])


RANGE, RESERVED = (f"proc/sys/net/ipv4/ip_local_{name}" for name in ("port_range", "reserved_ports"))


def host(root: Path, low: int, high: int, reserved: str = "") -> System:
    trees.put(root, RANGE, f"{low}\t{high}")
    trees.put(root, RESERVED, reserved)
    return System(root)


def test_a_port_of_outgoing_connections_is_refused(tmp_path: Path) -> None:
    system = host(tmp_path, 32768, 60999)
    refuse_ephemeral([9080, 32767, 61000], system)
    with pytest.raises(BadInput, match=r"port 36120 lies between 32768 and 60999.*for example 32766"):
        refuse_ephemeral([36120, 36121], system)
    refuse_ephemeral([36120], System(tmp_path / "none"))


def test_reserved_ports_are_handed_out_to_nobody(tmp_path: Path) -> None:
    system = host(tmp_path, 1024, 65535, "9000,9080-9083")
    refuse_ephemeral([9080, 9083], system)
    assert free_first_port([9080, 9083], 9080, system) == 9080
    assert free_first_port([7000, 7003], 7000, system) == 9080
    with pytest.raises(BadInput, match="for example 9080"):
        refuse_ephemeral([7000, 7001], system)


@pytest.mark.parametrize(
    ("low", "high", "first"),
    [
        (32768, 60999, 9080),
        (9000, 65535, 8996),
        (1100, 60999, 1096),
        (1026, 60999, 61000),
        (1024, 65535, 9080),
    ],
)
def test_ports_that_nobody_chose_lie_outside_of_the_range_where_they_can(
    tmp_path: Path, low: int, high: int, first: int
) -> None:
    system = host(tmp_path, low, high)
    assert free_first_port(range(9080, 9084), 9080, system) == first
    refuse_ephemeral(range(first, first + 4), system)


def test_a_port_of_ones_own_is_free_and_none_that_the_kernel_hands_out(tmp_path: Path) -> None:
    for low, high in ((32768, 60999), (15000, 60999), (1026, 65535)):
        system = host(tmp_path, low, high)
        port = free_port(system)
        assert not low <= port <= high
        with socket.create_server(("127.0.0.1", port)):
            assert free_port(system) not in {port, *range(low, high + 1)}
    require_ports([free_port(host(tmp_path, 1024, 65535))])  # this host has no others


def test_ports_of_a_range_without_an_outside_are_held_and_can_be_opened(tmp_path: Path) -> None:
    system = host(tmp_path, 1024, 65535)
    port = free_port()
    with held_ports([port], system) as held, socket.socket() as server, socket.socket() as taken:
        assert held == [port]
        require_ports([port])
        with pytest.raises(OSError, match="in use"):
            taken.bind(("127.0.0.1", port))  # as what the kernel hands out, without SO_REUSEADDR
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", port))
        server.listen()
        with socket.create_connection(("127.0.0.1", port)):
            pass
    with held_ports([9080], host(tmp_path, 32768, 60999)) as held:
        assert held == []


HANDED_OUT = """
import socket, sys
from pathlib import Path
from steelyard.host.ports import held_ports

Path("/proc/sys/net/ipv4/ip_local_port_range").write_text("5000 5003")
server = socket.socket()
server.bind(("127.0.0.1", 80))
server.listen(64)
with held_ports([5000, 5001]) as held:
    clients = [socket.socket() for _ in range(2)]
    for client in clients:
        client.connect(("127.0.0.1", 80))
    print(held, sorted(client.getsockname()[1] for client in clients))
    try:
        socket.socket().connect(("127.0.0.1", 80))
    except OSError as error:
        print(error.strerror)
"""


def test_the_kernel_hands_out_no_port_that_is_held() -> None:
    """In a network of its own, whose range of ports has four."""
    words = [
        "unshare",
        "--net",
        "sh",
        "-c",
        'ip link set lo up && exec "$0" -c "$1"',
        sys.executable,
        HANDED_OUT,
    ]
    if subprocess.run(["unshare", "--net", "ip", "link"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not make a network")
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "[5000, 5001] [5002, 5003]\nCannot assign requested address\n", done.stderr
