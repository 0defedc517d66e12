# SPDX-License-Identifier: Apache-2.0
"""The wheel of a release: what it holds, that it works where there is no clone, and what it fetches."""

import hashlib
import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from fake_site import answers

import steelyard
from steelyard import paths
from steelyard.build import fingerprint
from steelyard.errors import MissingRequirement
from steelyard.host.programs import is_whole, write_mark
from steelyard.paths import ROOT
from steelyard.published import VARIABLE, PublishedPackage, Release, fetch_packages
from suite.wheel import write_release

PACKAGES = {"ping": {"wlp/bin/server": "#!/bin/sh\n"}, "loadgen": {"lib/loadgen.jar": "jar"}}


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of two packages, under the fingerprint of the sources."""
    folder = tmp_path_factory.mktemp("build") / fingerprint()
    for name, files in PACKAGES.items():
        for file, text in files.items():
            path = folder / name / file
            path.parent.mkdir(parents=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755)
        write_mark(folder / name)
    return folder


@pytest.fixture(scope="module")
def wheel(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    return write_release(ROOT, build, folder.as_posix(), folder)


def release_of(wheel: Path) -> Release:
    with zipfile.ZipFile(wheel) as archive:
        return Release.model_validate_json(archive.read("steelyard/_release/release.json"))


def test_a_wheel_holds_what_a_session_reads_and_no_sources(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert f"steelyard-{steelyard.__version__}.dist-info/RECORD" in names
        about = archive.read(f"steelyard-{steelyard.__version__}.dist-info/METADATA").decode()
    held = {name.removeprefix("steelyard/_release/") for name in names}
    assert {"apps/ping/workload.yaml", "apps/databases/derby.yaml", "experiments/jvm-count.yaml"} <= held
    assert {"scripts/bench/planted/workload.yaml", "scripts/bench/planted/Server.java"} <= held
    assert {"compose/ping/compose.yaml", "LICENSE", "steelyard/relay.py"} <= held
    assert any(name.endswith("share/man/man1/steelyard.1") for name in names)
    sources = {name for name in names if name.endswith((".java", "pom.xml")) or "/tests/" in name}
    assert sources == {"steelyard/_release/scripts/bench/planted/Server.java"}  # which java runs as it is
    assert "Requires-Dist: typer==" in about


def test_documents_that_a_sentence_names_come_with_it(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = (ROOT / "scripts" / "steelyard").rglob("*.py")
    named = {
        name
        for path in sources
        for name in re.findall(r"\bdocs/[\w/-]+\.md", path.read_text(encoding="utf-8"))
    }
    with zipfile.ZipFile(wheel) as archive:
        held = {name.removeprefix("steelyard/_release/") for name in archive.namelist()}
    assert named
    assert named <= held
    monkeypatch.setattr(paths, "IS_RELEASE", True)
    monkeypatch.setattr(paths, "PROGRAM", "steelyard")
    said = paths.name_program("`./steelyard list` (docs/how-to/gate.md, http://there/docs/gate.md)")
    assert said == f"`steelyard list` ({ROOT}/docs/how-to/gate.md, http://there/docs/gate.md)"


def test_the_same_commit_and_build_give_the_same_bytes(wheel: Path, build: Path, tmp_path: Path) -> None:
    again = write_release(ROOT, build, wheel.parent.as_posix(), tmp_path)
    assert again.read_bytes() == wheel.read_bytes()
    for package in release_of(wheel).packages.values():
        content = (wheel.parent / package.file).read_bytes()
        assert content == (tmp_path / package.file).read_bytes()
        assert (hashlib.sha256(content).hexdigest(), len(content)) == (package.sha256, package.size)


def test_packages_are_fetched_once_and_checked(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, seen = release_of(wheel), list[str]()
    for _ in range(2):
        fetch_packages(list(PACKAGES), tmp_path / "builds", release, lambda name, _: seen.append(name))
    assert seen == list(PACKAGES)
    assert all(is_whole(tmp_path / "builds" / name) for name in PACKAGES)
    assert os.access(tmp_path / "builds" / "ping" / "wlp" / "bin" / "server", os.X_OK)

    monkeypatch.setenv(VARIABLE, wheel.parent.as_uri())  # by an address, as from a release page
    fetch_packages(["ping"], tmp_path / "others", release, lambda *_: None)
    assert is_whole(tmp_path / "others" / "ping")


@pytest.mark.parametrize(
    ("base", "says"),
    [
        ("/nowhere", "(No such file or directory): try again, or set STEELYARD_PACKAGES"),
        ("http://127.0.0.1:1/x", "refused"),
        ("no-scheme://x", "unknown url type"),
        ("http://127.0.0.1:abc", "nonnumeric port"),
        ("http://ho st", "control characters"),
    ],
)
def test_what_cannot_be_fetched_is_said(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: str, says: str
) -> None:
    monkeypatch.setenv(VARIABLE, base)
    with pytest.raises(MissingRequirement, match="cannot fetch") as error:
        fetch_packages(["ping"], tmp_path, release_of(wheel), lambda *_: None)
    assert says in str(error.value)
    assert "Errno" not in str(error.value)
    assert not (tmp_path / "ping").exists()


def test_an_answer_that_ends_early_is_said(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answers(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nshort") as url:
        monkeypatch.setenv(VARIABLE, url)
        with pytest.raises(
            MissingRequirement, match=r"cannot fetch http://127\.0\.0\.1:\d+/\S+ \(IncompleteRead"
        ):
            fetch_packages(["ping"], tmp_path, release_of(wheel), lambda *_: None)


def test_what_is_not_what_was_released_is_refused(wheel: Path, tmp_path: Path) -> None:
    release = release_of(wheel)
    other = PublishedPackage(file=release.packages["ping"].file, sha256="0" * 64, size=1)
    changed = release.model_copy(update={"packages": {"ping": other}})
    with pytest.raises(MissingRequirement, match="is not what was released"):
        fetch_packages(["ping"], tmp_path, changed, lambda *_: None)
    assert not (tmp_path / "ping").exists()
    with pytest.raises(MissingRequirement, match="has no package olio"):
        fetch_packages(["olio"], tmp_path, release, lambda *_: None)


@pytest.mark.full
def test_a_machine_without_a_clone_installs_and_plans(wheel: Path, tmp_path: Path) -> None:
    """In an environment of its own: what it needs of others is this one's, which has the same versions."""
    place = tmp_path / "venv"
    venv.create(place, with_pip=True)
    python = place / "bin" / "python"
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel],
        check=True,
        cwd=tmp_path,
    )
    needed = next(path for path in sys.path if path.endswith("site-packages"))
    (next(place.glob("lib/python*/site-packages")) / "needed.pth").write_text(needed, encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "STEELYARD"))}
    environment = {**kept, "XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path)}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [place / "bin" / "steelyard", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    assert run("--version").stdout == f"steelyard {steelyard.__version__}\n"
    planned = run("plan", "jvm-count", "--quick", "--json")
    assert planned.returncode == 0, planned.stderr
    arms = json.loads(planned.stdout)["arms"]
    builds = {part["artifact"]["build"] for arm in arms for part in arm["spec"]["components"]}
    assert builds == {release_of(wheel).fingerprint}
    assert (place / "share" / "man" / "man1" / "steelyard.1").exists()
    assert "see steelyard plan --help" in run("plan").stderr
    for words in (["images", "build"], ["test"]):
        refused = run(*words)
        assert (refused.returncode, "clone the repository" in refused.stderr) == (4, True)
    assert not list(Path(steelyard.__file__).parent.glob("_release"))
