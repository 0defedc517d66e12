# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import make_jvm
from waiting import ended, wait_until

from steelyard.build import find_build, fingerprint, make_build
from steelyard.host.java import Jdk
from steelyard.host.programs import write_mark
from steelyard.paths import ROOT


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, content in {
        "pom.xml": "<project/>",
        "apps/ping/src/main/java/Ping.java": "class Ping {}",
        "apps/ping/src/test/java/PingTest.java": "class PingTest {}",
        "apps/README.md": "words",
        "apps/ping/target/ping.zip": "built",
        "loadgen/pom.xml": "<project/>",
        "apps/ping/workload.yaml": "steelyard: 1",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", ["pom.xml", "apps/ping/src/main/java/Ping.java", "loadgen/pom.xml"])
def test_a_changed_source_is_another_build(checkout: Path, name: str) -> None:
    before = fingerprint(checkout)
    (checkout / name).write_text("changed", encoding="utf-8")
    assert fingerprint(checkout) != before


@pytest.mark.parametrize(
    "name",
    [
        "apps/README.md",
        "apps/ping/target/ping.zip",
        "apps/ping/src/test/java/PingTest.java",
        "apps/ping/workload.yaml",
    ],
)
def test_what_the_build_does_not_read_changes_nothing(checkout: Path, name: str) -> None:
    before = fingerprint(checkout)
    (checkout / name).write_text("changed", encoding="utf-8")
    assert fingerprint(checkout) == before


def test_a_renamed_source_is_another_build(checkout: Path) -> None:
    before = fingerprint(checkout)
    source = checkout / "apps/ping/src/main/java/Ping.java"
    source.rename(source.with_name("Pong.java"))
    assert fingerprint(checkout) != before


@pytest.fixture
def build(checkout: Path, tmp_path: Path) -> Path:
    """A whole build of the checkout."""
    folder = tmp_path / "builds" / fingerprint(checkout)
    (folder / "ping" / "lib").mkdir(parents=True)
    (folder / "ping" / "lib" / "ping.jar").write_bytes(b"classes")
    assert find_build(["ping"], checkout, folder.parent) is None, "it has no mark yet"
    write_mark(folder / "ping")
    return folder


def test_a_whole_build_is_found_also_when_a_server_has_been_primed(checkout: Path, build: Path) -> None:
    (build / "ping" / "usr-primed").mkdir()
    (build / "ping" / "usr-primed" / "cache").write_text("more", encoding="utf-8")
    assert find_build(["ping"], checkout, build.parent) == build


@pytest.mark.parametrize(
    "damage", ["removed", "cut", "unmarked", "mark emptied", "mark cut", "mark is nonsense"]
)
def test_a_damaged_build_is_made_anew(checkout: Path, build: Path, damage: str) -> None:
    jar, mark = build / "ping" / "lib" / "ping.jar", build / "ping.complete"
    if damage == "removed":
        jar.unlink()
    elif damage == "unmarked":
        mark.unlink()
    else:
        left = {"cut": (jar, b"clas"), "mark emptied": (mark, b""), "mark cut": (mark, mark.read_bytes()[:5])}
        path, text = left.get(damage, (mark, b"\xff nonsense"))
        path.write_bytes(text)
    assert find_build(["ping"], checkout, build.parent) is None


MODULES = {"loadgen": "loadgen", "shop": "apps/shop", "geocoder": "apps/olio/geocoder"}
MAVEN = """\
#!/bin/sh
# Leaves half an archive, and works in a process of its own.
[ -e ping/target/broken ] && echo "[ERROR] what a killed build left is still there" && exit 1
mkdir -p loadgen/target/loadgen apps/ping/target && touch apps/ping/target/broken
[ -e "$WAITS" ] && { sleep 300 & echo $! > "$WAITS"; wait; }
mkdir -p loadgen/target/loadgen && echo jar > loadgen/target/loadgen/lib.jar
"""
BUILDER = """\
import sys
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from steelyard import build
folder = Path(sys.argv[1])
build.CACHE, build.BUILDS = folder / "cache", folder / "cache" / "build"
jdk = SimpleNamespace(identity=SimpleNamespace(home="/none"))
packages = {"loadgen": Path("loadgen/target/loadgen")}
print(build.make_build(jdk, folder / "mvn", packages, lambda line: None, folder / "checkout"))
"""


def waits_for_a_lock(pid: int) -> bool:
    """By the kernel's list of file locks."""
    locks = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    return any(words[1] == "->" and words[5] == str(pid) for words in map(str.split, locks))


def test_a_build_that_was_killed_leaves_no_maven_and_is_made_anew(tmp_path: Path) -> None:
    """The lock is free only when all of Maven has gone, and what it left half done is not taken over."""
    checkout, waits = tmp_path / "checkout", tmp_path / "waits"
    for name in ("pom.xml", "apps/ping/pom.xml", "loadgen/pom.xml"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text("<project/>", encoding="utf-8")
    (tmp_path / "mvn").write_text(
        MAVEN.replace("ping/target/broken ]", "apps/ping/target/broken ]"), encoding="utf-8"
    )
    (tmp_path / "mvn").chmod(0o755)
    waits.touch()
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts"), "WAITS": str(waits)}
    command = [sys.executable, "-c", BUILDER, str(tmp_path)]
    with subprocess.Popen(command, env=environment) as builder:
        wait_until(lambda: waits.read_text(encoding="utf-8").strip(), "Maven at work", ended(builder))
        builder.kill()
    working = int(waits.read_text(encoding="utf-8"))
    waits.unlink()
    try:
        second = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        # A process that Maven had started still works in the same folders.
        wait_until(lambda: waits_for_a_lock(second.pid), "the second build at the lock", ended(second))
    finally:
        os.kill(working, signal.SIGKILL)
    made = Path(second.communicate()[0].strip())
    assert find_build(["loadgen"], checkout, made.parent) == made
    assert (made / "loadgen" / "lib.jar").exists()


def test_a_build_is_made_package_by_package(tmp_path: Path, fake_maven: Callable[[str], Path]) -> None:
    """Maven is asked for the modules of what is missing; what is there stays as it is."""
    checkout, asked = tmp_path / "checkout", tmp_path / "asked"
    checkout.mkdir()
    (checkout / "pom.xml").write_text("<project/>", encoding="utf-8")
    maven = fake_maven(
        f'echo "$*" >> {asked}\nfor module in loadgen apps/shop apps/olio/geocoder; do\n'
        "mkdir -p $module/target/made && date +%N > $module/target/made/jar\ndone\n"
    )
    jdk = Jdk(Path("/java"), make_jvm("hotspot"))
    wanted = {name: Path(module) / "target" / "made" for name, module in MODULES.items()}

    def make(*names: str) -> Path:
        packages = {name: wanted[name] for name in names}
        return make_build(jdk, maven, packages, lambda _line: None, checkout)

    made = make("loadgen")
    first = (made / "loadgen" / "jar").read_text(encoding="utf-8")
    assert make("loadgen", "shop", "geocoder") == made
    assert (made / "loadgen" / "jar").read_text(encoding="utf-8") == first
    assert find_build(MODULES, checkout, made.parent) == made
    make("shop")
    projects = [
        line.split("--projects ")[1].split()[0] for line in asked.read_text(encoding="utf-8").splitlines()
    ]
    assert projects == ["loadgen", "apps/olio/geocoder,apps/shop"]
