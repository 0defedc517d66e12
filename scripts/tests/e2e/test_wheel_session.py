# SPDX-License-Identifier: Apache-2.0
"""The door without a clone: a wheel is installed into an empty home and measures a server that it has never seen.

Where the tests run as root, the session has namespaces of its own: no network but the loopback, and an empty folder
where the checkout is.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from steelyard.errors import Exit
from steelyard.host.programs import write_mark
from steelyard.paths import ROOT
from steelyard.published import VARIABLE
from steelyard.results.schema import Trial
from steelyard.results.store import SessionDirectory
from steelyard.spec.injectors import PACKAGE as INJECTOR
from suite.wheel import write_release

from .driver import DONE, free_port, processes_that_mention, void_for_other_reasons_than_noise

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("host")]

SERVER = """\
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

class Shop {
  public static void main(String[] arguments) throws Exception {
    System.setProperty("sun.net.httpserver.nodelay", "true");
    HttpServer server =
        HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])), 256);
    byte[] answer = "[\\"apple\\", \\"pear\\"]".getBytes();
    server.createContext("/items", exchange -> {
      exchange.sendResponseHeaders(200, answer.length);
      exchange.getResponseBody().write(answer);
      exchange.close();
    });
    server.setExecutor(Executors.newFixedThreadPool(8));
    server.start();
  }
}
"""
QUESTION = ("jvm-count", "--quick", "--blocks", "2", "--workload", "my-server/workload.yaml")


class Machine(NamedTuple):
    """One that has the wheel's program, a JDK, and an empty home."""

    home: Path
    program: Path
    packages: Path

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Type a command there, in the home; `more`: variables."""
        return subprocess.run(
            [*elsewhere(), self.program, *words],
            cwd=self.home,
            env={**bare_environment(self.home), **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )


def bare_environment(home: Path) -> dict[str, str]:
    """Nothing of this checkout and of whoever runs the tests, but for what pip has fetched before."""
    ours = ("PYTHON", "STEELYARD", "XDG_", "VIRTUAL_ENV", "COLUMNS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    path = [part for part in kept["PATH"].split(":") if not Path(part).is_relative_to(ROOT)]
    cache = os.environ.get("PIP_CACHE_DIR") or str(Path.home() / ".cache" / "pip")
    return {**kept, "PATH": ":".join(path), "HOME": str(home), "PIP_CACHE_DIR": cache}


def elsewhere() -> Sequence[str]:
    """What a command is run by, so that there is no checkout and no way out."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "ip", "mount"))):
        return ()
    script = 'ip link set lo up && mount -t tmpfs none "$0" && exec "$@"'
    return ("unshare", "--net", "--mount", "sh", "-c", script, str(ROOT))


@pytest.fixture(scope="module")
def machine(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    build = tmp_path_factory.mktemp("build") / built.name
    build.mkdir()
    (build / INJECTOR).symlink_to(built / INJECTOR)
    write_mark(build / INJECTOR)
    packages, home = tmp_path_factory.mktemp("release"), tmp_path_factory.mktemp("home")
    # An address that nobody has: what is not in the folder cannot be had.
    wheel = write_release(ROOT, build, "http://packages.invalid/v0", packages)
    place = home / "venv"
    commands: tuple[list[str | Path], ...] = (
        [sys.executable, "-m", "venv", place],
        [place / "bin" / "python", "-m", "pip", "install", "--quiet", wheel],
    )
    for command in commands:
        done = subprocess.run(
            command, cwd=home, env=bare_environment(home), capture_output=True, text=True, check=False
        )
        if done.returncode != 0 and "No matching distribution" in done.stderr:
            pytest.skip("pip reaches no packages from here")
        assert done.returncode == 0, done.stderr
    return Machine(home, place / "bin" / "steelyard", packages)


@pytest.fixture(scope="module")
def workload(machine: Machine) -> Path:
    """The file that three answers make."""
    (machine.home / "Shop.java").write_text(SERVER, encoding="utf-8")
    made = machine.run(
        *("init", "my-server", "--start", "java Shop.java 8080", "--port", "8080", "--path", "/items")
    )
    assert made.returncode == 0, made.stderr
    assert "  steelyard run jvm-count --quick --workload my-server/workload.yaml\n" in made.stdout
    return machine.home / "my-server" / "workload.yaml"


def test_what_it_says_is_typed_there(machine: Machine, workload: Path) -> None:
    assert "steelyard journey from-har" in workload.read_text(encoding="utf-8")
    assert "./steelyard" not in workload.read_text(encoding="utf-8")
    for words in (["list"], ["doctor"], ["explain", "other-cpu"], ["plan", *QUESTION]):
        said = machine.run(*words)
        assert said.returncode == 0, said.stderr
        assert "./steelyard" not in said.stdout + said.stderr
        assert str(ROOT) not in said.stdout + said.stderr


@pytest.mark.usefixtures("workload")
def test_what_cannot_be_fetched_is_one_sentence_with_what_to_do(machine: Machine) -> None:
    for question in (QUESTION, ("jvm-count", "--quick")):
        refused = machine.run("run", *question)
        assert refused.returncode == Exit.ENVIRONMENT, refused.stderr
        assert refused.stderr.splitlines()[-1].endswith(
            f": try again, or set {VARIABLE} to a folder or address that has it"
        )
        assert not list(machine.home.glob("results/*/trials/*"))


@pytest.mark.usefixtures("workload")
def test_a_session_of_a_server_of_ones_own(machine: Machine) -> None:
    ran = machine.run("run", *QUESTION, "--port", str(free_port()), STEELYARD_PACKAGES=str(machine.packages))
    assert ran.returncode in DONE, ran.stdout + ran.stderr
    path = max(machine.home.glob("results/jvm-count-*"))
    assert (path / "report.html").stat().st_size > 0
    session, trials = SessionDirectory(path).session(), SessionDirectory(path).trials()
    assert {trial.arm for trial in trials} == {"jvms-1", "jvms-2"}
    assert not void_for_other_reasons_than_noise(trials)
    assert all(_was_measured(trial) for trial in trials if trial.failure is None)
    assert session.revision is not None
    assert (machine.home / ".cache" / "steelyard" / "build").is_dir()
    again = machine.run("report", str(path))
    assert again.returncode == 0, again.stderr
    assert not processes_that_mention(str(machine.home))


def _was_measured(trial: Trial) -> bool:
    return trial.measurement is not None and trial.measurement.injector_requests > 0
