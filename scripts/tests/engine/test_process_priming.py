# SPDX-License-Identifier: Apache-2.0
"""What is made once for each build and JVM: folders in which a Liberty server has started, classes of injectors."""

import sys
from pathlib import Path
from typing import Any

import pytest
from builders import make_jvm, make_spec
from test_process_engine import LIBERTY, process

from steelyard.engines.process.engine import ProcessEngine
from steelyard.engines.process.priming import archived_classes, primed_folder
from steelyard.errors import ProgramGone, ServerFailed
from steelyard.host.ports import refuse_ephemeral
from steelyard.processes import Children, client
from steelyard.results.spec import Artifact, Component
from steelyard.spec.injectors import ARCHIVE
from steelyard.workload.schema import Ready


def unprimed(package: Path, script: str) -> Path:
    """A package with two servers that `script` starts."""
    for name in ("s", "other"):
        (package / "wlp" / "usr" / "servers" / name).mkdir(parents=True)
    server = package / "wlp" / "bin" / "server"
    server.parent.mkdir()
    server.write_text(script, encoding="utf-8")
    server.chmod(0o755)
    return package


def liberty(**more: Any) -> Component:
    """A server of such a package."""
    return process("server-1", artifact=LIBERTY.model_copy(update={"jvm": make_jvm("hotspot")}), **more)


def serving(folder: Path) -> Path:
    """A package whose server serves its `usr`, and tells each start's port in `folder`."""
    started = f"""#!/bin/sh
echo "$HTTP_PORT" >> {folder}/starts
mkdir "$WLP_USER_DIR/servers/$2/workarea" && cd "$WLP_USER_DIR" || exit 1
exec {sys.executable} -m http.server --bind 127.0.0.1 "$HTTP_PORT"
"""
    return unprimed(folder / "p", started)


def test_a_server_starts_once_in_the_folder_that_all_are_copied_from(
    tmp_path: Path, children: Children
) -> None:
    package = serving(tmp_path)
    one = liberty(ready=Ready(path="/no-database-yet", live="/servers/"))
    primed = primed_folder(one, package, children)
    assert [path.name for path in (primed / "servers").iterdir()] == ["s"]
    assert (primed / "servers" / "s" / "workarea").is_dir()
    assert primed_folder(one, package, children) == primed
    (port,) = (tmp_path / "starts").read_text(encoding="utf-8").split()
    refuse_ephemeral([int(port)])  # another program could have been given it meanwhile
    assert sorted(path.name for path in package.iterdir()) == [primed.name, "wlp"]


def test_an_application_of_the_users_own_that_is_deployed_anew_is_what_starts(
    tmp_path: Path, children: Children
) -> None:
    """In the next session; one that runs is told, for its trials would be of both."""
    package = serving(tmp_path)
    server = package / "wlp" / "usr" / "servers" / "s"
    (tmp_path / "jdk" / "bin").mkdir(parents=True)
    (tmp_path / "jdk" / "bin" / "java").touch()
    jvm = make_jvm("hotspot").model_copy(update={"home": str(tmp_path / "jdk")})
    artifact = Artifact(form="liberty", path=str(package), package="p", words=["s"], jvm=jvm)
    one = process("server-1", artifact=artifact, ready=Ready(path="/servers/"))
    session = ProcessEngine(children, tmp_path)
    for text in ("first", "second one"):
        (server / "app.war").write_text(text, encoding="utf-8")
        (server / "logs").mkdir(exist_ok=True)
        primed = primed_folder(one, package, children)
        (server / "logs" / "messages.log").write_text(f"of a start by hand, {text}", encoding="utf-8")
        assert primed_folder(one, package, children) == primed
        assert (primed / "servers" / "s" / "app.war").read_text(encoding="utf-8") == text
        assert sorted(path.name for path in package.iterdir()) == [primed.name, "wlp"]
        if text == "first":
            session.require_programs(make_spec(components=[one]))
    with pytest.raises(ProgramGone, match="servers/s, which server-1 runs, was removed, damaged or replaced"):
        session.require_programs(make_spec(components=[one]))


@pytest.fixture
def failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where logs of first starts that failed are kept."""
    monkeypatch.setattr(client, "KEPT", tmp_path / "failed")
    return client.KEPT


def test_a_server_that_does_not_start_is_not_copied_from_and_its_log_is_kept(
    tmp_path: Path, children: Children, failed: Path
) -> None:
    package = unprimed(tmp_path / "p", "#!/bin/sh\necho 'no such feature'; echo bye; exit 3\n")
    kept = failed / "first-start-of-server-1.txt"
    said = rf"server-1 ended with exit code 3 after printing: no such feature \| bye: see {kept}$"
    with pytest.raises(ServerFailed, match=said):
        primed_folder(liberty(), package, children)
    assert kept.read_text(encoding="utf-8") == "no such feature\nbye\n"
    assert [path.name for path in package.iterdir()] == ["wlp"]


@pytest.mark.usefixtures("failed")
def test_a_first_start_may_take_as_long_as_the_workload_allows_a_server(
    tmp_path: Path, children: Children
) -> None:
    package = unprimed(tmp_path / "p", "#!/bin/sh\nexec sleep 600\n")
    with pytest.raises(ServerFailed, match="server-1 did not answer within 2 s: is its JDK sound"):
        primed_folder(liberty(ready=Ready(within=2.0)), package, children)


ARCHIVES = """
import pathlib, sys, time
made = next(word.partition("=")[2] for word in sys.argv if word.startswith("-XX:ArchiveClassesAtExit="))
pathlib.Path("ready").touch()
while not pathlib.Path("stop").exists(): time.sleep(0.01)
pathlib.Path(made).write_text("classes")
print("x", file=open(sys.argv[1], "a"))
"""


def archiving(script: str, *more: str) -> Component:
    """An injector that ends by its stop file, as a script."""
    words = [sys.executable, "-c", script, *more, "${jvm_options}"]
    return process(
        "injector-1",
        role="injector",
        port=None,
        artifact=Artifact(form="command", words=words),
        jvm_options=["-Xmx1g", f"{ARCHIVE}${{package}}-classes-17.jsa"],
    )


def test_the_injectors_classes_are_archived_once(tmp_path: Path, children: Children) -> None:
    package = tmp_path / "loadgen"
    package.mkdir()
    one = archiving(ARCHIVES, str(tmp_path / "made"))
    for _ in range(2):
        archived_classes(one, package, children, set())
    assert (tmp_path / "loadgen-classes-17.jsa").read_text(encoding="utf-8") == "classes"
    assert not list(package.iterdir()), "images are made of it"
    assert (tmp_path / "made").read_text(encoding="utf-8") == "x\n"


def test_an_injector_that_does_not_start_leaves_no_archive(tmp_path: Path, children: Children) -> None:
    with pytest.raises(ServerFailed, match="injector-1 ended with exit code 4"):
        archived_classes(archiving("import sys; sys.exit(4)"), tmp_path / "loadgen", children, set())
    assert not list(tmp_path.iterdir())


# As HotSpot says it whose lib/server has no classes.jsa.
NO_BASE = 'sys.exit("DynamicDumpSharedSpaces is unsupported when base CDS archive is not loaded")'


@pytest.mark.parametrize("refuses", [NO_BASE, "pass"], ids=["refused", "nothing written"])
def test_an_injector_whose_jvm_makes_no_archive_starts_without_and_is_tried_once(
    tmp_path: Path, children: Children, refuses: str
) -> None:
    package = tmp_path / "loadgen"
    package.mkdir()
    script = f"""
import pathlib, sys, time
print(*sys.argv[2:], file=open(sys.argv[1], "a"))
if any("ArchiveClassesAtExit" in word for word in sys.argv): {refuses}
pathlib.Path("ready").touch()
while not pathlib.Path("stop").exists(): time.sleep(0.01)
"""
    engine = ProcessEngine(children, tmp_path)
    for _ in range(2):
        archived_classes(archiving(script, str(tmp_path / "started")), package, children, engine._unmade)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loadgen", "started"]
    started = (tmp_path / "started").read_text(encoding="utf-8").splitlines()
    assert len(started) == (2 if refuses == NO_BASE else 1)
    assert refuses == "pass" or started[-1] == "-Xmx1g"
