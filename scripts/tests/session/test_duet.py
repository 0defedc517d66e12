# SPDX-License-Identifier: Apache-2.0
"""Two trials at once: what is deployed, whose samples are whose, and what a session makes of them."""

import errno
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from builders import make_measurement, make_trial
from planned import asked, session_of, specs_of
from sessions import Bench

from steelyard.engines.base import Deployment, Running
from steelyard.engines.both import CombinedDeployment, side_of, with_side, without_side
from steelyard.engines.compose.engine import ComposeDeployment
from steelyard.engines.process.deployment import ProcessDeployment
from steelyard.errors import BadInput, NoSpace, ServerFailed
from steelyard.measure.ledger import is_void
from steelyard.measure.samples import Samples
from steelyard.results.failure import Failure
from steelyard.results.schema import Check, Planned, Session, Trial
from steelyard.results.spec import Component, Spec
from steelyard.results.store import SessionDirectory, write_record
from steelyard.sampling.columns import COLUMNS
from steelyard.session.counting import counts_path
from steelyard.session.duet import (
    check_duet,
    copy_counts,
    extract_samples,
    halves,
    judge_together,
    merge_sides,
)
from steelyard.session.runner import require_settings, require_starts
from steelyard.session.schedule import Schedule

SECOND_PORT = 9580
SIDES = ("side-one", "side-other")


def sides(**keys: Any) -> tuple[dict[str, Spec], dict[str, Spec]]:
    """The specs of two equal arms on either half of four cores."""
    question = asked(
        "acmeair",
        **{
            "factors": {"side": {"levels": {"one": {}, "other": {}}}},
            "deployment": {"topology": "monolith"},
            "design": {"equal": True, "duet": True},
            **keys,
        },
    )
    cores = [(0,), (1,), (2,), (3,)]
    return specs_of(question, halves(cores)[0]), specs_of(question, halves(cores)[1], first_port=SECOND_PORT)


def test_each_side_has_half_of_the_cores_and_neighbours_stay_together() -> None:
    assert halves([(0, 4), (1, 5), (2, 6), (3, 7)]) == ([(0, 4), (1, 5)], [(2, 6), (3, 7)])
    assert halves([(0,), (1,), (2,)]) == ([(0,)], [(1,)])
    with pytest.raises(BadInput, match="a duet needs two cores"):
        halves([(0, 1)])


def test_what_runs_is_both_sides_under_names_of_their_own() -> None:
    first, second = sides()
    found = merge_sides({"side-one": first["side-one"], "side-other": second["side-other"]})
    names = [one.name for one in found.components]
    assert len(set(names)) == len(names) == 2 * len(first["side-one"].components)
    assert names[-2:] == ["side-one/injector-1", "side-other/injector-1"]
    assert {cpu for one in found.components if one.name.startswith("side-one/") for cpu in one.cpus} == {0, 1}
    assert {cpu for one in found.components if one.name.startswith("side-other/") for cpu in one.cpus} == {
        2,
        3,
    }
    assert len(set(found.ports)) == len(found.ports)
    known = set(names)
    assert {one.component for one in (*found.data, *found.consistency)} <= known
    assert len(found.data) == 2 * len(first["side-one"].data)
    assert found.server_cpus == {0, 1, 2, 3}
    assert [without_side(one) for one in found.components if one.name.startswith("side-one/")] == first[
        "side-one"
    ].components


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"factors": {"jvms": {"levels": [1, 2, 4]}}}, "a duet has two arms, and this experiment 3"),
        (
            {
                "procedure": "ramp-up",
                "load": {"users": 8, "measure": 9},
                "metrics": {"primary": "steady_level"},
            },
            "procedure ramp-up has no common measurement",
        ),
        ({"factors": {"users": {"levels": [4, 8]}}}, "the arms have different loads"),
        (
            {"factors": {"jvms": {"levels": [1, 2]}}},
            "how many servers are best on a host is asked of a whole one",
        ),
        ({"settings": {"pages": "large"}}, "the pool of large pages is prepared for one side"),
    ],
)
def test_what_cannot_run_at_once_is_refused(keys: Mapping[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        check_duet(sides(**keys)[0])
    check_duet(sides()[0])


def test_samples_are_cut_out_under_their_own_names(tmp_path: Path) -> None:
    both, own = tmp_path / "both", tmp_path / "own"
    both.mkdir()
    rows = {
        "processes": [
            "1.0,side-one/server-1,1,0,9,9,0,0,0,0,1,,1,0",
            "1.0,side-other/server-1,2,0,9,9,0,0,0,0,1,,1,0",
        ],
        "counters": ["1.0,side-one/server-1,all,10,0,0.1", "1.0,side-other/server-1,all,20,0,0.1"],
        "host": ["1.0,5,3,0,1,0.01"],
    }
    rows["processes"] += [
        "1.0,harness,3,0,9,9,0,0,0,0,1,,1,0",
        "1.0,side-other/injector-1,4,0,9,9,0,0,0,0,1,,1,0",
    ]
    for name, lines in rows.items():
        (both / f"{name}.csv").write_text("\n".join([COLUMNS[name], *lines, ""]), encoding="utf-8")
    (both / "perf-side-other-server-1.csv").write_text("# epoch 1.0\n", encoding="utf-8")
    extract_samples(both, "side-other", own)
    found = Samples.load(own)
    assert found.process_names() == ["server-1", "harness", "injector-1"]
    assert found.processes["server-1", "user_s"].v.tolist() == [2.0]
    counted = found.total_counts()
    assert counted is not None
    assert counted.requests == 20
    assert found.host["other_s",].v.tolist() == [0.01]


def test_what_perf_counted_of_a_side_becomes_its_own(tmp_path: Path) -> None:
    both, own = tmp_path / "1-duet", tmp_path / "1-side-other"
    for side in SIDES:
        path = counts_path(both, f"{side}/server-1")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# epoch 1.0 of {side}\n", encoding="utf-8")
    copy_counts((both, "side-other/server-1"), (own, "server-1"))
    copy_counts((both, "side-other/injector-1"), (own, "injector-1"))
    assert [path.name for path in own.rglob("*.csv")] == ["perf-server-1.csv"]
    assert counts_path(own, "server-1").read_text(encoding="utf-8") == "# epoch 1.0 of side-other\n"


def check(name: str, passed: bool, voids: bool = True) -> Check:
    told = f"About {name}."
    return Check(name=name, passed=passed, voids=voids, value=None, limit=None, unit="", detail=told)


def test_a_side_that_is_void_voids_the_other() -> None:
    good, bad = [check("steal", True), check("not-steady", False, voids=False)], [check("errors", False)]
    assert judge_together({"a": good, "b": good}) == {"a": good, "b": good}
    assert judge_together({"a": bad, "b": bad}) == {"a": bad, "b": bad}
    assert judge_together({"only": bad}) == {"only": bad}
    found = judge_together({"a": good, "b": bad})
    assert found["b"] == bad
    assert is_void(found["a"])
    assert found["a"][-1].detail == "b, which was measured at the same time, is void: About errors."


def make_duet_session(blocks: int = 4) -> Session:
    question = asked(
        "ping",
        factors={"side": {"levels": {"one": {}, "other": {}}}},
        design={"blocks": blocks, "equal": True, "duet": True},
    )
    first, second = (
        specs_of(question, [core], first_port=port) for core, port in (((0,), 9080), ((1,), SECOND_PORT))
    )
    made = session_of(question, first, blocks)
    arms = [arm.model_copy(update={"second": second[arm.name]}) for arm in made.arms]
    return made.model_copy(update={"arms": arms})


def test_sides_swap_their_halves_and_have_either_as_often() -> None:
    schedule, seen = Schedule(make_duet_session()), []
    for block in range(1, 5):
        found = {
            arm: schedule.spec(Planned(order=0, block=block, arm=arm, attempt=attempt))
            for arm in SIDES
            for attempt in (0, 1)
        }
        assert found["side-one"].server_cpus | found["side-other"].server_cpus == {0, 1}
        assert not set(found["side-one"].ports) & set(found["side-other"].ports)
        seen.append(found["side-one"].server_cpus == {0})
    assert seen.count(True) == 2


def outcome(block: int, arm: str, attempt: int = 0, state: Literal["valid", "void"] = "valid") -> Trial:
    return make_trial(
        block, arm, attempt=attempt, order=2 * block, state=state, measurement=None, steady=None
    )


def test_a_pair_runs_and_is_repeated_together() -> None:
    schedule = Schedule(make_duet_session(blocks=2))
    first = schedule.next([])
    assert first is not None
    both = schedule.together(first)
    assert [one.block for one in both] == [1, 1]
    assert {one.arm for one in both} == set(SIDES)
    assert [one.order for one in both] == [0, 1]
    ended = [
        outcome(block, arm, state="void" if block == 1 else "valid") for block in (1, 2) for arm in SIDES
    ]
    again = schedule.next(ended)
    assert again is not None
    assert [(one.block, one.attempt) for one in schedule.together(again)] == [(1, 1), (1, 1)]


def test_a_setting_that_the_first_of_a_pair_never_gets_ends_the_session() -> None:
    def pair(block: int) -> list[Trial]:
        first, second = (outcome(block, arm, state="void") for arm in SIDES)
        differing = make_measurement(settings_differ=["server-1 has processors 2 instead of 1"])
        return [first.model_copy(update={"measurement": differing}), second]

    require_settings(pair(1), at_once=2)
    with pytest.raises(ServerFailed, match=f"all 2 trials of {SIDES[0]} ran with other .* processors 2"):
        require_settings([*pair(1), *pair(2)], at_once=2)


def test_a_pair_that_does_not_start_is_repeated_once() -> None:
    def failed(block: int) -> list[Trial]:
        told = {"failure": "It did not start.", "started": float(block)}
        return [outcome(block, arm, state="void").model_copy(update=told) for arm in SIDES]

    require_starts(failed(1), at_once=2)
    with pytest.raises(ServerFailed, match="2 trials of side-other in a row did not start: It did not"):
        require_starts([*failed(1), *failed(2)], at_once=2)


def test_a_side_whose_partner_a_crash_took_runs_again() -> None:
    schedule = Schedule(make_duet_session(blocks=2))
    ended = [outcome(1, "side-one"), outcome(1, "side-other"), outcome(2, "side-one")]
    assert schedule.keep_pairs(ended) == ended[:2]
    planned = schedule.next(schedule.keep_pairs(ended))
    assert planned is not None
    assert [one.block for one in schedule.together(planned)] == [2, 2]


def test_the_journal_knows_two_that_run_at_once(tmp_path: Path) -> None:
    directory = SessionDirectory(tmp_path)
    write_record(tmp_path / "session.json", make_duet_session())
    directory.log(1.0, "session-start")

    def place(arm: str) -> dict[str, Any]:
        return {"block": 1, "arm": arm, "attempt": 0}

    for arm in SIDES:
        directory.log(2.0, "trial-start", **place(arm))
    digests = {}
    for arm in SIDES:
        digests[arm] = write_record(directory.trial_path(1, arm, 0) / "trial.json", outcome(1, arm))
        assert len(directory.trials()) == len(digests) - 1
        directory.log(3.0, "trial-end", **place(arm), state="valid", digest=digests[arm])
        assert len(directory.trials()) == len(digests)
    # After a crash between the two: the one that had ended runs again, and has not ended any more.
    directory.log(4.0, "trial-start", **place("side-one"))
    assert [one.arm for one in directory.trials()] == ["side-other"]


def test_a_disk_that_is_full_when_a_partner_runs_again_is_what_the_session_ends_with(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What had ended is set aside then: the journal has to know before."""
    directory = SessionDirectory(bench.folder / "duet")
    write_record(directory.path / "session.json", make_duet_session(blocks=2))
    directory.log(1.0, "session-start")
    for arm in SIDES:
        directory.log(2.0, "trial-start", block=1, arm=arm, attempt=0)
    kept = write_record(directory.trial_path(1, "side-one", 0) / "trial.json", outcome(1, "side-one"))
    directory.log(3.0, "trial-end", block=1, arm="side-one", attempt=0, state="valid", digest=kept)
    make = Path.mkdir

    def mkdir(path: Path, *arguments: Any, **options: Any) -> None:
        if path.name == "replay":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        make(path, *arguments, **options)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with pytest.raises(NoSpace, match="free some space"):
        bench.run(directory)
    assert directory.trials() == []
    assert directory.trial_path(1, "side-one", 0).with_name("01-side-one.interrupted-1").is_dir()


@dataclass
class Half(Deployment[Any]):
    """A deployment that remembers what it was asked."""

    folder: Path
    asked: list[tuple[str, Any]] = field(default_factory=list)

    def start(self, components: Sequence[Component]) -> None:
        if "broken" in self.folder.name:
            raise ServerFailed("the containers could not be started: no such image")
        self.asked.append(("start", [one.name for one in components]))

    def started_components(self) -> list[Running]:
        return [Running(COMPONENT, [7], 1.0)]

    def failure(self, name: str) -> str | None:
        return f"{name} ended with exit code 3" if name == "server-2" else None

    def stop(self, names: Iterable[str] | None = None, grace: float = 20.0) -> list[Failure]:  # noqa: ARG002
        self.asked.append(("stop", names if names is None else sorted(names)))
        sentence = "server-1 did not stop and was killed"
        return [Failure(component="server-1", cause="not-stopped", detail=sentence)]

    def close(self) -> None:
        self.asked.append(("close", None))
        if "fails" in self.folder.name:
            raise OSError("gone")

    def logs(self, name: str) -> Path:
        return self.folder / name

    def _end(self, units: Sequence[Any], grace: float) -> None:  # noqa: ARG002
        raise AssertionError


COMPONENT = sides()[0]["side-one"].servers[0].model_copy(update={"name": "server-1"})


def test_every_call_goes_to_its_side(tmp_path: Path) -> None:
    one, other = Half(tmp_path / "one"), Half(tmp_path / "other")
    both = CombinedDeployment({"a": one, "b": other}, tmp_path)
    both.start([with_side("a", COMPONENT), with_side("b", COMPONENT)])
    both.start([with_side("b", COMPONENT)])
    assert (one.asked, other.asked) == ([("start", ["server-1"])], [("start", ["server-1"])] * 2)
    assert [found.name for found in both.started_components()] == ["a/server-1", "b/server-1"]
    assert both.failure("b/server-2") == "b/server-2 ended with exit code 3"
    assert both.failure("a/server-1") is None
    assert both.logs("b/server-1") == tmp_path / "other" / "server-1"
    problems = both.stop(["a/server-1", "b/injector-1"])
    assert [problem.component for problem in problems] == ["a/server-1", "b/server-1"]
    assert [problem.detail for problem in problems] == [
        "a/server-1 did not stop and was killed",
        "b/server-1 did not stop and was killed",
    ]
    assert (one.asked[-1], other.asked[-1]) == (("stop", ["server-1"]), ("stop", ["injector-1"]))
    both.stop()
    assert (one.asked[-1], other.asked[-1]) == (("stop", None), ("stop", None))


@pytest.mark.parametrize("engine", [ProcessDeployment, ComposeDeployment])
def test_what_an_engine_of_this_host_answers_in_its_own_way_its_side_is_asked_for(
    engine: type[Deployment[Any]],
) -> None:
    shared = {name for parent in Deployment.__mro__ for name in vars(parent) if not name.startswith("__")}
    own = {name for name, value in vars(engine).items() if callable(value)} & shared
    assert own <= vars(CombinedDeployment).keys()


def test_a_failure_names_the_side_that_it_is_about(tmp_path: Path) -> None:
    one, other = Half(tmp_path / "one"), Half(tmp_path / "broken")
    with pytest.raises(ServerFailed, match="b/the containers could not be started: no such image") as failed:
        CombinedDeployment({"a": one, "b": other}, tmp_path).start(
            [with_side("a", COMPONENT), with_side("b", COMPONENT)]
        )
    assert side_of(failed.value.component, ("a", "b")) == "b"
    assert side_of("a/server-1", ("a", "b")) == "a"
    assert side_of(None, ("a", "b")) is None
    assert side_of("server-1", ("a", "b")) is None


def test_both_are_closed_whatever_comes_of_the_first(tmp_path: Path) -> None:
    one, other = Half(tmp_path / "fails"), Half(tmp_path / "other")
    with pytest.raises(OSError, match="gone"):
        CombinedDeployment({"a": one, "b": other}, tmp_path).close()
    assert other.asked == [("close", None)]
