# SPDX-License-Identifier: Apache-2.0
"""A recorded session that somebody edited: `analyze` and `report` refuse it, or say what cannot be checked."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import Run
from fake_engine import World
from sessions import Bench, ping

from steelyard.cli import inspect
from steelyard.cli import run as run_command
from steelyard.errors import Altered, Exit
from steelyard.results.binding import digests, find_altered
from steelyard.results.store import SessionDirectory, write_record
from steelyard.session.runner import analyse_again

Edit = Callable[[Path], object]
FIRST, OTHER, DEAD = "01-jvms-1", "02-jvms-2", "02-jvms-1"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two blocks of two arms; a server died in one trial, which was repeated."""
    world = World()
    world.deaths = {DEAD: ("server-1", 7.0)}
    bench = Bench(tmp_path_factory.mktemp("recorded"), world)
    directory = bench.session(ping(design={"repeats": 2}))
    bench.run(directory)
    assert {one.state for one in directory.trials()} == {"valid", "void"}
    yield directory.path
    for deployment in world.deployments:
        deployment.close()


@pytest.fixture
def directory(recorded: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    return shutil.copytree(recorded, tmp_path / "session")


@pytest.fixture
def steelyard(monkeypatch: pytest.MonkeyPatch, steelyard: Run) -> Run:
    """It draws no report, and runs nothing."""
    monkeypatch.setattr(inspect, "write_report", lambda found: found.analysis() and [])

    def go_on(_: object) -> None:
        raise AssertionError("an edited session goes on")

    monkeypatch.setattr(run_command, "require_idle", go_on)
    return steelyard


def change(name: str, *path: Any, to: Any = None, remove: bool = False) -> Edit:
    """An edit of one value of a JSON file; `to` may be made from the value that was there."""

    def edit(directory: Path) -> None:
        file = directory / name
        document = json.loads(file.read_text(encoding="utf-8"))
        place = document
        for key in path[:-1]:
            place = place[key]
        if remove:
            del place[path[-1]]
        else:
            place[path[-1]] = to(place[path[-1]]) if callable(to) else to
        file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")

    return edit


def write(name: str, made: Callable[[bytes], bytes]) -> Edit:
    """An edit of the bytes of a file."""

    def edit(directory: Path) -> None:
        path = directory / name
        path.write_bytes(made(path.read_bytes() if path.exists() else b""))

    return edit


def lines(made: Callable[[list[bytes]], list[bytes]]) -> Edit:
    """An edit of the lines of the journal."""
    return write("journal.jsonl", lambda data: b"".join(made(data.splitlines(keepends=True))))


def exchange(one: str, other: str) -> Edit:
    """Two files or folders take each other's place."""

    def edit(directory: Path) -> None:
        (directory / one).rename(directory / "between")
        (directory / other).rename(directory / one)
        (directory / "between").rename(directory / other)

    return edit


def copy(one: str, other: str) -> Edit:
    return lambda directory: shutil.copytree(directory / one, directory / other)


def remove(name: str) -> Edit:
    def edit(directory: Path) -> None:
        path = directory / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return edit


def swapped(items: list[Any]) -> list[Any]:
    return [items[1], items[0], *items[2:]]


def without(number: int) -> Callable[[list[bytes]], list[bytes]]:
    return lambda found: found[:number] + found[number + 1 :]


def replaced(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    def replace(data: bytes) -> bytes:
        assert old in data
        return data.replace(old, new, 1)

    return replace


S, T, U = "session.json", f"trials/{FIRST}/trial.json", f"trials/{DEAD}/trial.json"
COMPONENT = ("arms", 0, "spec", "components", 0)
NONSENSE: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda _: b"",
    "cut": lambda data: data[: len(data) // 2],
    "no JSON": lambda _: b"{",
    "a list": lambda _: b"[]",
    "no text": lambda _: b"\xff\xfe\x00",
    "nested without end": lambda _: b"[" * 200_000,
    "padded with zeros": lambda data: data[:-1000] + b"\0" * 1000,
}
REFUSED: dict[str, Edit] = {
    "format version removed": change(S, "format_version", remove=True),
    "format version newer": change(S, "format_version", to=99),
    "format version a text": change(S, "format_version", to="2"),
    "fingerprint": change(S, *COMPONENT, "artifact", "build", to="0123456789abcdef"),
    "JVM": change(S, *COMPONENT, "artifact", "jvm", "runtime_version", to="99+1"),
    "heap": change(S, *COMPONENT, "heap_bytes", to=2**30),
    "CPUs of a server": change(S, *COMPONENT, "cpus", to=[0, 1, 2, 3]),
    "host": change(S, "host", "hostname", to="lab"),
    "kernel": change(S, "host", "kernel", to="9.9"),
    "memory": change(S, "host", "memory_bytes", to=2**40),
    "THP": change(S, "host", "thp", to="never"),
    "governor": change(S, "host", "governor", to="performance"),
    "processor": change(S, "host", "cpu_model", to="POWER10"),
    "baseline flag moved": lambda d: [
        change(S, "arms", number, "baseline", to=lambda flag: not flag)(d) for number in (0, 1)
    ],
    "an arm removed": change(S, "arms", to=lambda arms: arms[:1]),
    "arms in another order": change(S, "arms", to=swapped),
    "level of an arm": change(S, "arms", 1, "levels", "jvms", to=4),
    "schedule empty": change(S, "schedule", to=[]),
    "schedule shorter": change(S, "schedule", to=lambda places: places[:2]),
    "trials swapped in the schedule": change(S, "schedule", to=swapped),
    "experiment empty": change(S, "experiment", to={}),
    "metrics of the wrong type": change(S, "experiment", "metrics", to=5),
    "another primary metric": change(S, "experiment", "metrics", "primary", to="memory_rss"),
    "measurement time": change(S, "arms", 0, "spec", "load", "measure", to=600.0),
    "seed": change(S, "seed", to=8),
    "revision": change(S, "revision", to="abc"),
    "version": change(S, "steelyard_version", to="9"),
    "id": change(S, "id", to="another"),
    "quick": change(S, "quick", to=True),
    "notes removed": change(S, "injectors_share_cores", to=False),
    "session removed": remove(S),
    "throughput doubled": change(T, "metrics", "throughput", to=lambda value: 2 * value),
    "throughput a text": change(T, "metrics", "throughput", to="fast"),
    "throughput NaN": change(T, "metrics", "throughput", to=float("nan")),
    "throughput infinite": change(T, "metrics", "throughput", to=float("inf")),
    "metrics emptied": change(T, "metrics", to={}),
    "latency": change(T, "latency", "all", "p50", to=0.1),
    "measurement": change(T, "measurement", "injector_errors", to=0.5),
    "measurement removed": change(T, "measurement", to=None),
    "arm exchanged": change(T, "arm", to="jvms-2"),
    "block": change(T, "block", to=2),
    "order": change(T, "order", to=7),
    "repeat forged": change(T, "attempt", to=1),
    "void made valid": change(U, "state", to="valid"),
    "valid made void": change(T, "state", to="void"),
    "failed check passed": change(U, "checks", 0, "passed", to=True),
    "checks removed": change(T, "checks", to=[]),
    "made steady": change(T, "steady", to=True),
    "trial without format": change(T, "format_version", remove=True),
    "trial of a newer format": change(T, "format_version", to=3),
    "record of files removed": change(T, "files", to={}),
    "digest of a file forged": change(T, "files", "samples/host.csv", to="0" * 64),
    "trial.json removed": remove(T),
    "trial removed": remove(f"trials/{FIRST}"),
    "void trial removed": remove(f"trials/{DEAD}"),
    "all trials removed": remove("trials"),
    "trial renamed": lambda d: (d / f"trials/{FIRST}").rename(d / "trials/03-jvms-1"),
    "trial copied as another block": copy(f"trials/{FIRST}", "trials/03-jvms-1"),
    "trial copied as a repeat": copy(f"trials/{FIRST}", f"trials/{FIRST}-r7"),
    "trials exchanged": exchange(f"trials/{FIRST}", f"trials/{OTHER}"),
    "trial.json exchanged": exchange(T, f"trials/{OTHER}/trial.json"),
    "samples edited": write(f"trials/{FIRST}/samples/host.csv", lambda data: data + b"9,9,9,9,9,9\n"),
    "samples shorter": write(f"trials/{FIRST}/samples/processes.csv", lambda data: data[: len(data) // 2]),
    "samples of another trial": exchange(
        f"trials/{FIRST}/samples/counters.csv", f"trials/{OTHER}/samples/counters.csv"
    ),
    "a sample more": write(f"trials/{FIRST}/samples/more.csv", lambda _: b"epoch\n"),
    "histogram torn": write(f"trials/{FIRST}/load/injector-1/latency.hlog", lambda data: data[:-40]),
    "health edited": write(
        f"trials/{FIRST}/load/injector-2/health.jsonl", replaced(b'"dropped": 0', b'"dropped": 1')
    ),
    "first answers edited": write(f"trials/{FIRST}/load/injector-1/summary.json", lambda _: b"{}"),
    "replay edited": write(f"trials/{FIRST}/replay/deployment.sh", lambda data: data + b"true\n"),
    "sampler told otherwise": change(f"trials/{FIRST}/sampler.json", "interval", to=2.0),
    "journal removed": remove("journal.jsonl"),
    "journal a folder": lambda d: [remove("journal.jsonl")(d), (d / "journal.jsonl").mkdir()],
    "first line of the journal removed": lines(without(0)),
    "a line of the journal removed": lines(without(4)),
    "a line of the journal twice": lines(lambda found: [*found[:5], *found[4:]]),
    "lines of the journal exchanged": lines(lambda found: [*found[:2], found[3], found[2], *found[4:]]),
    "a line more": lines(lambda found: [*found, b'{"time": 1.0, "event": "interrupted"}\n']),
    "an interruption removed": lines(without(-2)),
    "a void trial told as valid": write("journal.jsonl", replaced(b'"state":"void"', b'"state":"valid"')),
    "a time in the journal": write("journal.jsonl", replaced(b'"time":18', b'"time":17')),
    "a digest in the journal": write("journal.jsonl", replaced(b'"digest":"', b'"digest":"0')),
    **{f"session.json {name}": write(S, made) for name, made in NONSENSE.items()},
    **{f"trial.json {name}": write(T, made) for name, made in NONSENSE.items()},
    **{
        f"journal {name}": write("journal.jsonl", made)
        for name, made in NONSENSE.items()
        if "zeros" not in name
    },
}
TOLD: dict[str, tuple[Edit, str]] = {
    "samples removed": (
        remove(f"trials/{FIRST}/samples"),
        "files that figures of trials were made from are gone",
    ),
    "histogram removed": (
        remove(f"trials/{FIRST}/load/injector-1/latency.hlog"),
        "injector-1/latency.hlog): those",
    ),
    "end of the journal lost with the host": (
        write("journal.jsonl", lambda data: data[:-9] + b"\0" * 9),
        "cut off 1 line of the journal",
    ),
    "torn end of the journal": (
        lines(lambda found: [*found[:-1], found[-1][:9]]),
        "cut off 1 line of the journal",
    ),
}
REMADE: dict[str, Edit] = {
    "ratio edited": change(
        "analysis.json", "estimates", "throughput", "jvms-2", "ratio", to=lambda ratio: 2 * (ratio or 1.0)
    ),
    "mean edited": change("analysis.json", "summaries", "throughput", "jvms-1", "mean", to=9e9),
    "estimates removed": change("analysis.json", "estimates", to={}),
    "a metric of the wrong type": change("analysis.json", "primary", to=5),
    "void trials forgotten": change("analysis.json", "void_trials", to=0),
    "seal removed": change("analysis.json", "seal", remove=True),
    "seal forged": change("analysis.json", "seal", to="0" * 64),
    "of another session": change("analysis.json", "session_id", to="another"),
    **{name: write("analysis.json", made) for name, made in NONSENSE.items()},
}


def test_what_nobody_edited_is_read(directory: Path, steelyard: Run) -> None:
    before = (directory / "analysis.json").read_bytes()
    for command in ("analyze", "report"):
        code, _, said = steelyard(command, str(directory))
        assert (code, said) == (0, "")
    assert (directory / "analysis.json").read_bytes() == before


@pytest.mark.parametrize("edit", REFUSED)
def test_an_edit_is_found_out(directory: Path, steelyard: Run, edit: str) -> None:
    REFUSED[edit](directory)
    for command in ("analyze", "report", "resume"):
        code, _, said = steelyard(command, str(directory))
        assert code in (Exit.ALTERED, Exit.BAD_INPUT, Exit.NEWER_FORMAT), said
        assert "Traceback" not in said
        assert len(said.strip().splitlines()) == 1
        assert len(said) < 600
        assert str(directory) in said


@pytest.mark.parametrize("edit", TOLD)
def test_what_cannot_be_checked_any_more_is_told(directory: Path, steelyard: Run, edit: str) -> None:
    spoil, says = TOLD[edit]
    spoil(directory)
    for command in ("analyze", "report"):
        assert steelyard(command, str(directory))[0] == 0
        notes = SessionDirectory(directory).analysis().notes
        assert [note for note in notes if says in note], notes


@pytest.mark.parametrize("command", ["analyze", "report"])
@pytest.mark.parametrize("edit", REMADE)
def test_a_stale_foreign_or_edited_analysis_is_made_anew(
    directory: Path, steelyard: Run, edit: str, command: str
) -> None:
    path = directory / "analysis.json"
    before = path.read_bytes()
    REMADE[edit](directory)
    code, _, said = steelyard(command, str(directory))
    assert (code, path.read_bytes()) == (0, before)
    assert "was stale, foreign or edited: it was made again" in said


def test_an_analysis_of_fewer_trials_is_stale(directory: Path, recorded: Path) -> None:
    """As after the end of one more trial."""
    found = SessionDirectory(directory)
    lines(lambda entries: entries[: next(i for i, line in enumerate(entries) if b"trial-end" in line) + 1])(
        directory
    )
    for path in (directory / "trials").iterdir():
        if path.name != found.trial_path(1, found.journal()[1].arm or "", 0).name:
            shutil.rmtree(path)
    analyse_again(found)
    assert found.analysis().trials == 1
    shutil.copy(directory / "analysis.json", directory / "kept.json")
    shutil.rmtree(directory / "trials")
    shutil.copytree(recorded / "trials", directory / "trials")
    shutil.copy(recorded / "journal.jsonl", directory / "journal.jsonl")
    with pytest.raises(Altered, match=r"was not made from session\.json and trials/ as they are"):
        found.analysis()


def test_a_trial_whose_end_a_crash_swallowed_has_not_ended(directory: Path, recorded: Path) -> None:
    """Killed between trial.json and the journal, or within its line; the next line begins on its own."""
    kept = SessionDirectory(recorded).trials()[:-1]
    for cut in (0, 25):
        shutil.copy(recorded / "journal.jsonl", directory / "journal.jsonl")

        def last_trial(found: list[bytes], cut: int = cut) -> list[bytes]:
            end = max(number for number, line in enumerate(found) if b"trial-end" in line)
            return [*found[:end], found[end][:cut]]

        lines(last_trial)(directory)
        found = SessionDirectory(directory)
        assert found.trials() == kept
        found.log(1.8e9, "session-resume")
        assert found.journal()[-1].event == "session-resume"
        assert found.trials() == kept
        assert bool([text for text in found.doubts([]) if "cut off 1 line" in text]) == (cut > 0)


def test_the_name_of_a_record_is_on_disk_before_the_journal_tells_of_it(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a power cut could take the record and leave the line that binds it."""
    kept = SessionDirectory(directory)
    trial = kept.trials()[0]
    path = kept.trial_path(trial.block, trial.arm, trial.attempt) / "trial.json"
    forced: list[tuple[Path, bool]] = []

    def force(descriptor: int) -> None:
        forced.append((Path(f"/proc/self/fd/{descriptor}").readlink(), path.exists()))

    monkeypatch.setattr(os, "fsync", force)
    path.unlink()
    write_record(path, trial)
    assert forced[0][1] is False
    assert forced[1:] == [(path.parent, True)]


def test_a_torn_first_line_leaves_a_session_that_begins(tmp_path: Path, recorded: Path) -> None:
    shutil.copy(recorded / "session.json", tmp_path / "session.json")
    (tmp_path / "journal.jsonl").write_bytes(b'{"time": 18000')
    found = SessionDirectory(tmp_path)
    assert not found.has_journal()
    found.log(1.8e9, "session-start")
    assert [entry.event for entry in found.journal()] == ["session-start"]
    assert found.session().id == "s"


@pytest.mark.parametrize("command", ["analyze", "report", "resume"])
@pytest.mark.parametrize("name", ["session.json", "journal.jsonl", f"trials/{FIRST}/trial.json"])
def test_a_fifo_in_the_place_of_a_record_is_refused_and_not_waited_for(
    directory: Path, steelyard: Run, command: str, name: str
) -> None:
    path = directory / name
    path.unlink()
    os.mkfifo(path)
    code, _, said = steelyard(command, str(directory))
    assert code == Exit.BAD_INPUT, said
    assert f"{path} cannot be read (it is no regular file)" in said


def test_a_fifo_in_the_place_of_what_was_measured_is_gone(directory: Path) -> None:
    found = SessionDirectory(directory)
    for trial in (directory / "trials").iterdir():
        for path in [*trial.glob("samples/*"), *trial.glob("load/*/*"), trial / "sampler.json"]:
            if path.is_file():
                path.unlink()
                os.mkfifo(path)
    assert "are gone" in found.doubts(found.trials())[0]
    analyse_again(found)


def test_logs_of_the_jit_are_bound(tmp_path: Path) -> None:
    log = tmp_path / "servers" / "server" / "logs" / "jit.log"
    log.parent.mkdir(parents=True)
    log.write_text("+ (cold) a/B.c()V\n", encoding="utf-8")
    recorded = digests(tmp_path)
    assert list(recorded) == ["servers/server/logs/jit.log"]
    assert find_altered(tmp_path, recorded) == ([], [])
    assert find_altered(tmp_path, {}) == (["servers/server/logs/jit.log"], [])
    log.write_text("", encoding="utf-8")
    assert find_altered(tmp_path, recorded) == (["servers/server/logs/jit.log"], [])
