# SPDX-License-Identifier: Apache-2.0
"""With what a session may go on: the same host, settings, version and programs; the rest is told."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from planned import processes, session_of, specs_of
from sessions import Bench, ping

from steelyard import __version__
from steelyard.errors import BadInput, ProgramGone
from steelyard.host.java import find_jdk
from steelyard.jvm.identity import JvmIdentity
from steelyard.report.caveats import caveats
from steelyard.report.view import View
from steelyard.results.schema import Session
from steelyard.results.store import SessionDirectory, write_record
from steelyard.session import opening
from steelyard.session.opening import find_unfinished, repeat_command, require_same
from steelyard.session.plan import RunRequest


def on_jvm(jvm: JvmIdentity) -> Session:
    """A session whose servers and injectors run on a JVM of this host."""
    question = ping()
    return session_of(question, specs_of(question, runtime=replace(processes(jvm), injector_jvm=jvm)))


@pytest.fixture(scope="module")
def begun() -> Session:
    """A session that could go on, but for its build."""
    session = on_jvm(find_jdk().identity)
    more = {
        "steelyard_version": __version__,
        "revision": opening._revision(),
        "versions": opening._own_versions(),
    }
    return session.model_copy(update=more)


def on(session: Session, **facts: Any) -> Session:
    """As if it had been begun on a host with other facts."""
    return session.model_copy(update={"host": session.host.model_copy(update=facts)})


def test_the_same_host_and_programs_are_no_reason_to_say_anything(begun: Session) -> None:
    assert require_same(begun) == []


@pytest.mark.parametrize(
    ("fact", "before"),
    [
        ("hostname", "another"),
        ("kernel", "5.0"),
        ("memory_bytes", 2**50),
        ("thp", "other"),
        ("governor", "other"),
        ("turbo", "other"),
        ("smt", "other"),
        ("cpu_model", "other"),
        ("cpus", 4096),
        ("page_size", 65536),
        ("huge_pages", {"2048": 12345}),
        ("virtualization", "other"),
        ("extra", {"kernel_options": "mitigations=off"}),
    ],
)
def test_another_host_or_setting_is_refused(begun: Session, fact: str, before: Any) -> None:
    with pytest.raises(BadInput, match=rf"\({fact} was .*, is .*\): start a new one with `run`"):
        require_same(on(begun, **{fact: before}))


@pytest.mark.parametrize(
    ("fact", "unknown"),
    [
        ("hostname", "unknown"),
        ("kernel", "unknown"),
        ("memory_bytes", 0),
        *((name, None) for name in ("smt", "governor", "turbo", "thp")),
    ],
)
def test_what_neither_start_knows_is_not_the_same(
    begun: Session, fact: str, unknown: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = begun.host.model_copy(update={fact: unknown})
    monkeypatch.setattr(opening, "read_facts", lambda: shown)
    with pytest.raises(
        BadInput, match=rf"this host does not show its {fact} now, .* start a new one with `run`"
    ):
        require_same(on(begun, **{fact: unknown}))


def test_another_host_may_go_on_where_nothing_runs_on_it(begun: Session) -> None:
    remote = {"remote": True, "components": []}
    arms = [arm.model_copy(update={"spec": arm.spec.model_copy(update=remote)}) for arm in begun.arms]
    moved = on(begun.model_copy(update={"arms": arms}), hostname="another", cpus=4096)
    told = " ".join(require_same(moved))
    assert "before, another" in told
    assert "before, 4096" in told
    with pytest.raises(BadInput, match="version of Steelyard"):
        require_same(moved.model_copy(update={"steelyard_version": "0.0.1"}))
    mixed = moved.model_copy(update={"arms": [*arms[1:], begun.arms[0]]})
    with pytest.raises(BadInput, match="start a new one"):
        require_same(mixed)


def test_a_state_that_the_session_sets_itself_may_have_been_left_or_be_unknown(
    begun: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    arms = [
        arm.model_copy(update={"spec": arm.spec.model_copy(update={"host_states": {"thp": "always"}})})
        for arm in begun.arms
    ]
    assert require_same(on(begun.model_copy(update={"arms": arms}), thp="other")) == []
    shown = begun.host.model_copy(update={"thp": None})
    monkeypatch.setattr(opening, "read_facts", lambda: shown)
    assert require_same(on(begun.model_copy(update={"arms": arms}), thp=None)) == []


def test_memory_may_differ_by_what_a_start_of_the_kernel_takes(begun: Session) -> None:
    assert require_same(on(begun, memory_bytes=begun.host.memory_bytes + 2**20)) == []


def test_another_version_is_refused(begun: Session) -> None:
    with pytest.raises(BadInput, match=r"\(version of Steelyard was 0\.0, is"):
        require_same(begun.model_copy(update={"steelyard_version": "0.0"}))


def test_another_revision_python_or_swap_is_told(begun: Session) -> None:
    other = {"revision": "abc", "versions": {**begun.versions, "python": "3.1", "gatling": "1"}}
    told = require_same(on(begun.model_copy(update=other), swap_bytes=5))
    assert [sentence.partition(" was ")[0] for sentence in told] == [
        "After a resume swap_bytes",
        "After a resume revision of Steelyard",
        "After a resume python",
    ]


def test_a_jvm_that_is_gone_or_another_has_too(begun: Session) -> None:
    for change, now in (
        (("home", "/gone"), "gone"),
        (("runtime_version", "99"), find_jdk().identity.runtime_version),
    ):
        jvm = find_jdk().identity.model_copy(update=dict([change]))
        session = on_jvm(jvm).model_copy(update={"steelyard_version": __version__})
        with pytest.raises(ProgramGone, match=f"is now {now}".replace("+", r"\+")):
            require_same(session)


def test_the_report_tells_what_differed_after_a_resume(bench: Bench) -> None:
    directory = bench.session(ping())
    with pytest.raises(KeyboardInterrupt):
        bench.run(directory, interrupt=lambda planned, now: (planned.order, now) == (1, "measure"))
    bench.run(directory, differs="After a resume python was 3.12; before, 3.11.")
    found = View(directory.session(), directory.analysis(), directory.trials(), directory.journal())
    assert "After a resume python was 3.12; before, 3.11." in caveats(found)


def test_a_program_that_goes_ends_the_session_which_goes_on_when_it_is_back(bench: Bench) -> None:
    """At once, with no void trial; what was finished is kept."""
    directory = bench.session(ping())
    gone = ProgramGone("the JDK is gone")

    def away(spec: Any) -> float:
        if bench.world.deployments[-1].directory.name.startswith("02"):
            raise gone
        return 100.0

    bench.world.throughput = away
    with pytest.raises(ProgramGone):
        bench.run(directory)
    assert [one.state for one in directory.trials()] == ["valid", "valid"]
    assert directory.analysis().trials == 2
    bench.world.throughput = lambda _: 100.0
    assert [one.state for one in bench.run(directory)] == ["valid"] * 4


def asks(*more: str) -> RunRequest:
    return RunRequest("ping", argv=["run", "ping", *more])


def begun_as(results: Path, name: str, created: float, seed: int, *ends: str) -> SessionDirectory:
    """A session that a command began, and how far it came."""
    question = ping()
    session = session_of(question, specs_of(question))
    told = {"command": repeat_command(["run", "ping"], seed), "seed": seed, "created": created}
    directory = SessionDirectory(results / name)
    write_record(directory.path / "session.json", session.model_copy(update=told))
    for number, event in enumerate(ends):
        directory.log(created + number, event)
    return directory


def test_what_has_not_ended_of_the_same_command_goes_on(tmp_path: Path) -> None:
    assert find_unfinished(tmp_path, asks("--resume")) is None
    begun_as(tmp_path, "old", 1.0, 1, "session-start")
    last = begun_as(tmp_path, "last", 2.0, 2, "session-start", "interrupted")
    found = find_unfinished(tmp_path, asks("--resume"))
    assert found is not None
    assert found.path == last.path
    assert find_unfinished(tmp_path, asks("--quick")) is None
    assert find_unfinished(tmp_path, asks("--seed", "3")) is None
    assert find_unfinished(tmp_path, asks("--seed", "1")) is not None
    # What was given up for a later one is not taken up again.
    last.log(5.0, "session-end")
    assert find_unfinished(tmp_path, asks("--resume")) is None


def test_a_session_that_was_lost_before_its_first_trial_goes_on(tmp_path: Path) -> None:
    begun = begun_as(tmp_path, "begun", 1.0, 1)
    found = find_unfinished(tmp_path, asks("--resume"))
    assert found is not None
    assert found.path == begun.path
