# SPDX-License-Identifier: Apache-2.0
"""No command of somebody else's workload file is run before a person agreed."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Run
from planned import question, session_of, specs
from recordings import SHOP, entry

from steelyard.cli.app import main
from steelyard.host.checkout import SHIPPED, are_of_checkout
from steelyard.paths import ROOT
from steelyard.results.spec import Artifact
from steelyard.results.store import SessionDirectory, write_record
from steelyard.session.opening import begin
from steelyard.workload import trust
from steelyard.workload.trust import keep_trust

WORKLOAD = """steelyard: 1
name: stranger
version: "1"
title: Somebody else's server
topologies:
  single:
    about: one server
    components:
      server:
        role: server
        replicas: jvms
        process: {java: [-cp, MARK, Stranger]}
    journey: {visits: {home: {steps: [{operation: home, path: /}]}}}
"""


def is_trusted(file: Path, checkout: Path = ROOT) -> bool:
    return trust.is_trusted(file, lambda files: are_of_checkout(files, checkout))


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The list of what is trusted, without a word yet, and nobody to ask."""
    monkeypatch.delenv("STEELYARD_TRUST")
    monkeypatch.setattr(sys, "stdin", (tmp_path / "empty").open("w+", encoding="utf-8"))
    monkeypatch.setattr(trust, "TRUSTED", tmp_path / "kept")
    return tmp_path / "kept"


@pytest.fixture
def workload(tmp_path: Path, kept: Path) -> Path:
    """A workload file outside of the checkout, whose command would leave a mark."""
    file = tmp_path / "stranger" / "workload.yaml"
    file.parent.mkdir()
    file.write_text(WORKLOAD.replace("MARK", str(tmp_path / "mark")), encoding="utf-8")
    return file


EXPERIMENT = """steelyard: 1
name: stranger
title: Somebody else's question
question: What does it start?
workload: ping
factors: {jvms: {levels: [1, 2]}}
deployment: {jdk: JDK}
"""


@pytest.fixture
def experiment(tmp_path: Path, kept: Path) -> Path:
    """An experiment file outside of the checkout, whose JDK would leave a mark."""
    java, file = tmp_path / "jdk" / "bin" / "java", tmp_path / "experiment.yaml"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\ntouch {tmp_path / 'mark'}\n", encoding="utf-8")
    java.chmod(0o755)
    file.write_text(EXPERIMENT.replace("JDK", str(tmp_path / "jdk")), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "verb", [("up",), ("run", "jvm-count", "--quick", "--workload"), ("certify", "--workload")]
)
def test_a_stranger_s_file_is_not_run_unasked(
    workload: Path, steelyard: Run, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    options = () if verb == ("up",) else ("--out", str(tmp_path / "results"))
    code, _, said = steelyard(*verb, str(workload), *options)
    assert code == 4, said
    assert (
        f"{workload} is not of this checkout, and its commands run as you: read it, then pass --trust"
        in " ".join(said.split())
    )
    assert not (tmp_path / "mark").exists()
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    "typed",
    [
        "plan FILE",
        "run FILE --out OUT",
        "certify FILE --out OUT",
        "certify --baseline FILE --out OUT",
        "gate FILE --baseline gc=generational --candidate checkout --out OUT",
        "gate jvm-count --baseline checkout --candidate FILE --out OUT",
    ],
)
def test_nor_is_the_jdk_of_a_stranger_s_experiment(
    experiment: Path, steelyard: Run, tmp_path: Path, typed: str
) -> None:
    words = typed.replace("FILE", str(experiment)).replace("OUT", str(tmp_path / "results")).split()
    code, _, said = steelyard(*words)
    assert code == 4, said
    sentence = (
        f"{experiment} is not of this checkout, and its JDKs and JVM options can run any program as you"
    )
    assert f"{sentence}: read it, then pass --trust" in " ".join(said.split())
    assert not (tmp_path / "mark").exists()
    assert not (tmp_path / "results").exists()


def test_an_experiment_that_somebody_trusted_is_asked_about_again_once_it_changed(
    experiment: Path, steelyard: Run, tmp_path: Path
) -> None:
    """What the program of its JDK answers is refused: it was started."""
    mark = tmp_path / "mark"
    for words in (["--trust"], []):
        assert steelyard("plan", str(experiment), *words)[0] == 3
        assert mark.exists()
        mark.unlink()
    experiment.write_text(experiment.read_text(encoding="utf-8") + "# more\n", encoding="utf-8")
    assert steelyard("plan", str(experiment))[0] == 4
    assert not mark.exists()


def test_what_is_trusted_is_a_content(workload: Path, kept: Path) -> None:
    assert not is_trusted(workload)
    keep_trust(workload)
    assert is_trusted(workload)
    assert kept.stat().st_mode & 0o777 == 0o600
    moved = workload.rename(workload.with_name("moved.yaml"))
    assert is_trusted(moved)
    moved.write_text(f"{moved.read_text(encoding='utf-8')}# more\n", encoding="utf-8")
    assert not is_trusted(moved)


@pytest.mark.parametrize("changed", ["a", "b"])
def test_so_are_the_components_that_it_chooses_between(workload: Path, changed: str) -> None:
    """Their files hold commands as well."""
    settings = "settings: {database: {type: choice, choices: [a, b], default: a, about: which}}"
    database = "database: {role: database, one_of: {setting: database, folder: db}}"
    text = WORKLOAD.replace("topologies:", f"{settings}\ntopologies:", 1)
    workload.write_text(text.replace("components:", f"components:\n      {database}", 1), encoding="utf-8")
    (workload.parent / "db").mkdir()
    for name in ("a", "b"):
        (workload.parent / "db" / f"{name}.yaml").write_text(
            f"steelyard: 1\ntitle: {name}\nprocess: {{command: [serve]}}\n", encoding="utf-8"
        )
    keep_trust(workload)
    assert is_trusted(workload)
    file = workload.parent / "db" / f"{changed}.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("serve", "rm"), encoding="utf-8")
    assert not is_trusted(workload)


def test_the_checkout_s_own_are_trusted_and_a_link_to_another_is_not(tmp_path: Path, workload: Path) -> None:
    assert is_trusted(ROOT / "apps" / "ping" / "workload.yaml")
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "workload.yaml").symlink_to(workload)
    assert not is_trusted(checkout / "workload.yaml", checkout)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder of git's with one workload that it tracks."""
    folder = tmp_path / "clone"
    write_workload(folder / "apps" / "own" / "workload.yaml")
    for command in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def write_workload(file: Path) -> Path:
    file.parent.mkdir(parents=True)
    file.write_text(WORKLOAD, encoding="utf-8")
    return file


@pytest.mark.usefixtures("kept")
def test_a_stranger_s_folder_within_the_checkout_is_not_of_it(checkout: Path) -> None:
    own = checkout / "apps" / "own" / "workload.yaml"
    assert is_trusted(own, checkout)
    strangers = [write_workload(checkout / name / "workload.yaml") for name in ("stranger", "apps/stranger")]
    nested = write_workload(checkout / "cloned" / "workload.yaml")  # with a repository of its own
    for command in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *command], cwd=nested.parent, check=True)
    assert not any(is_trusted(file, checkout) for file in (*strangers, nested))
    keep_trust(nested)
    assert is_trusted(nested, checkout)


@pytest.mark.usefixtures("kept")
def test_without_git_s_files_the_shipped_folders_are_the_checkout_s(checkout: Path) -> None:
    """As in a wheel, in an image, in an archive of the sources."""
    shutil.rmtree(checkout / ".git")
    assert is_trusted(checkout / "apps" / "own" / "workload.yaml", checkout)
    assert not is_trusted(write_workload(checkout / "stranger" / "workload.yaml"), checkout)
    held = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [
        name
        for name in held.stdout.split("\0")
        if re.search(r"/workload\.yaml$|^experiments/.*\.yaml$", name)
    ]
    own = [name for name in files if not name.startswith("scripts/tests/")]
    assert own
    assert [name for name in own if not name.startswith(tuple(f"{each}/" for each in SHIPPED))] == []


@pytest.mark.usefixtures("kept")
def test_where_git_does_not_answer_somebody_is_asked(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert not is_trusted(checkout / "apps" / "own" / "workload.yaml", checkout)


@pytest.mark.usefixtures("kept")
def test_what_init_and_from_har_wrote_is_trusted(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, steelyard: Run
) -> None:
    monkeypatch.chdir(checkout)
    code, _, said = steelyard("init", "shop", "--start", "serve 8000", "--port", "8000", "--path", "/")
    assert (code, said) == (0, "")
    assert is_trusted(checkout / "shop" / "workload.yaml", checkout)
    assert trust.is_kept([checkout / "shop" / "processes.yaml"])
    recording, to = tmp_path / "shop.har", checkout / "recorded.yaml"
    recording.write_text(json.dumps({"log": {"entries": [entry(0, f"{SHOP}/")]}}), encoding="utf-8")
    code, _, said = steelyard("journey", "from-har", str(recording), "--to", str(to))
    assert (code, said) == (0, "")
    assert is_trusted(to, checkout)
    to.write_text(f"{to.read_text(encoding='utf-8')}# more\n", encoding="utf-8")
    assert not is_trusted(to, checkout)


def test_a_link_in_the_place_of_the_list_is_not_followed(tmp_path: Path, workload: Path, kept: Path) -> None:
    """Whoever may write there could have the digest appended to another file."""
    other = tmp_path / "other"
    other.touch()
    kept.symlink_to(other)
    keep_trust(workload)
    assert other.read_text(encoding="utf-8") == ""


def test_trust_said_beforehand_goes_on(workload: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It then ends at something else: the command is not run in this test."""
    monkeypatch.setattr("steelyard.cli.workload.workload_up.require_idle", _stop)
    monkeypatch.setattr(sys, "argv", ["steelyard", "up", str(workload), "--trust"])
    with pytest.raises(_GoesOn):
        main()
    monkeypatch.setattr(sys, "argv", ["steelyard", "up", str(workload)])
    with pytest.raises(_GoesOn):  # the answer was kept
        main()


@pytest.mark.parametrize("place", ["file/kept", "folder"])
def test_where_the_answer_cannot_be_kept_the_command_goes_on(
    workload: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str
) -> None:
    """As where `.steelyard` is another user's, or read-only: somebody is asked again."""
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    monkeypatch.setattr(trust, "TRUSTED", tmp_path / place)
    monkeypatch.setattr("steelyard.cli.workload.workload_up.require_idle", _stop)
    monkeypatch.setattr("steelyard.cli.run.RuntimeResolver", lambda *_: _stop())
    for command in (["up", str(workload)], ["resume", str(stranger_s_session(tmp_path).path)]):
        monkeypatch.setattr(sys, "argv", ["steelyard", *command, "--trust"])
        with pytest.raises(_GoesOn):
            main()
        monkeypatch.setattr(sys, "argv", ["steelyard", *command])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 4


def stranger_s_session(folder: Path) -> SessionDirectory:
    """Of a workload that is trusted, by its name; its servers start something else."""
    words = {"artifact": Artifact(form="command", words=["touch", str(folder / "mark")])}
    found = {name: spec.with_changes("server", lambda _: words) for name, spec in specs("jvm-count").items()}
    directory = SessionDirectory(folder / "session")
    (directory.path / "trials").mkdir(parents=True)
    session = session_of(question("jvm-count"), found)
    write_record(directory.path / "session.json", session)
    return directory


def test_a_session_from_elsewhere_is_not_resumed_unasked(steelyard: Run, kept: Path, tmp_path: Path) -> None:
    directory = stranger_s_session(tmp_path)
    code, _, said = steelyard("resume", str(directory.path))
    assert code == 4, said
    record = directory.path / "session.json"
    asked = f"{record} was not written here, and its commands run as you: read it, then pass --trust"
    assert asked in " ".join(said.split())
    assert not kept.exists()


@pytest.mark.usefixtures("kept")
def test_a_session_that_was_begun_here_goes_on_unasked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As one from elsewhere does once somebody trusted it, until its record is another."""
    monkeypatch.setattr("steelyard.cli.run.RuntimeResolver", lambda *_: _stop())
    directory = stranger_s_session(tmp_path)
    begin(directory, directory.session())
    monkeypatch.setattr(sys, "argv", ["steelyard", "resume", str(directory.path)])
    with pytest.raises(_GoesOn):
        main()
    write_record(directory.path / "session.json", directory.session().model_copy(update={"seed": 1}))
    with pytest.raises(SystemExit):
        main()
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--trust"])
    with pytest.raises(_GoesOn):
        main()
    monkeypatch.setattr(sys, "argv", sys.argv[:-1])
    with pytest.raises(_GoesOn):  # the answer was kept
        main()


class _GoesOn(BaseException):
    """It went past the question."""


def _stop() -> None:
    raise _GoesOn
