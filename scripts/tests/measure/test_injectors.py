# SPDX-License-Identifier: Apache-2.0
"""Injectors are steered by files in their folders; what they write of each second is read as far as it goes."""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from fake_clock import FakeClock

from steelyard.errors import ServerFailed
from steelyard.measure.health import per_second, read_health
from steelyard.session import injectors as steering
from steelyard.session.injectors import Injectors

T = 1_700_000_000


class Launched:
    """Two injectors that do what their files and a script say."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.codes: dict[str, int] = {}
        self.stopped: list[str] = []
        self.fetched: list[str] = []
        self.silent: set[str] = set()
        self.each_look: Callable[[], None] = lambda: None
        for name in ("injector-1", "injector-2"):
            (folder / name).mkdir()

    def failure(self, name: str) -> str | None:
        code = self.codes.get(name)
        return f"{name} ended with exit code {code}" if code is not None else None

    def exit_code(self, name: str) -> int | None:
        self.each_look()
        if name not in self.codes and (self.logs(name) / "stop").exists():
            self.end(name, summary=None if name in self.silent else "{}")
        return self.codes.get(name)

    def logs(self, name: str) -> Path:
        return self.folder / name

    def fetch(self, name: str) -> None:
        self.fetched.append(name)

    def stop(self, names: Sequence[str], grace: float) -> list[str]:
        assert grace > 0
        self.stopped += names
        return []

    def end(self, name: str, code: int = 0, summary: str | None = "{}") -> None:
        self.codes[name] = code
        if summary is not None:
            (self.logs(name) / "summary.json").write_text(summary, encoding="utf-8")

    def say(self, name: str, **line: object) -> None:
        with (self.logs(name) / "health.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({"epochMillis": T * 1000, "late": 0, "dropped": 0, **line}) + "\n")


@pytest.fixture
def launched(tmp_path: Path) -> Launched:
    return Launched(tmp_path)


@pytest.fixture
def injectors(launched: Launched) -> Injectors:
    return Injectors(["injector-1", "injector-2"], launched, nothing)


def nothing() -> None:
    """Everything lives."""


def test_all_of_them_are_waited_for_before_any_begins(launched: Launched, injectors: Injectors) -> None:
    looks = []

    def alive() -> None:
        looks.append(time.time())
        name = "injector-1" if len(looks) == 1 else "injector-2"
        (launched.logs(name) / "ready").touch()

    injectors.alive = alive
    injectors.wait_until_ready()
    assert len(looks) == 2
    assert not list(launched.folder.glob("*/start"))
    before = time.time()
    assert before <= injectors.go() <= time.time()
    assert len(list(launched.folder.glob("*/start"))) == 2


def test_elsewhere_all_are_told_one_second_that_is_still_to_come(
    launched: Launched, injectors: Injectors
) -> None:
    written: list[tuple[str, str, str]] = []
    injectors.write_remote = lambda name, file, text: written.append((name, file, text))
    before = time.time()
    begin = injectors.go()
    assert begin == int(begin) >= before + steering.LEAD
    assert time.time() >= begin, "the load has begun"
    assert written == [(name, "start", f"{begin * 1000:.0f}") for name in ("injector-1", "injector-2")]
    launched.codes = {"injector-1": 0, "injector-2": 0}
    for name in launched.codes:
        launched.end(name)
    injectors.stop()
    assert written[2:] == [(name, "stop", "") for name in ("injector-1", "injector-2")]
    assert launched.fetched == ["injector-1", "injector-2"]
    assert not launched.stopped, "their observers have still to tell the last"


def test_load_has_begun_when_each_has_completed_a_request(launched: Launched, injectors: Injectors) -> None:
    launched.say("injector-1", requests=3)
    launched.say("injector-2", requests=0)
    line = json.dumps({"epochMillis": T * 1000, "requests": 5, "late": 0, "dropped": 0})
    calls = []

    def alive() -> None:
        calls.append(1)
        path = launched.logs("injector-2") / "health.jsonl"
        path.write_text(
            path.read_text(encoding="utf-8") + (f"{line}\n{{'requ" if len(calls) > 1 else "x\n"),
            encoding="utf-8",
        )

    injectors.alive = alive
    injectors.wait_for_load()
    assert len(calls) == 2


def test_one_that_ends_too_early_is_named(launched: Launched, injectors: Injectors) -> None:
    launched.codes["injector-2"] = 1
    assert [str(failure) for failure in injectors.failures()] == ["injector-2 ended with exit code 1"]
    with pytest.raises(ServerFailed, match="injector-2 ended with exit code 1"):
        injectors.wait_until_ready()


def test_something_else_that_dies_ends_the_wait(injectors: Injectors) -> None:
    def alive() -> None:
        raise LookupError("a server died")

    injectors.alive = alive
    with pytest.raises(LookupError, match="a server died"):
        injectors.wait_until_ready()


@pytest.mark.parametrize(
    ("limit", "wait", "says"),
    [
        ("READY_TIMEOUT", "wait_until_ready", "injectors were not ready within 0 s"),
        ("LOAD_TIMEOUT", "wait_for_load", "injectors sent no load within 0 s"),
    ],
)
def test_time_runs_out(
    injectors: Injectors, monkeypatch: pytest.MonkeyPatch, limit: str, wait: str, says: str
) -> None:
    monkeypatch.setattr(steering, limit, 0.05)
    with pytest.raises(ServerFailed, match=f"{says}: see .*injector-1"):
        getattr(injectors, wait)()


def test_a_probe_ends_by_itself(launched: Launched, injectors: Injectors) -> None:
    def end() -> None:
        for name in ("injector-1", "injector-2"):
            launched.end(name)

    launched.each_look = end
    injectors.wait_until_through(30.0)
    assert injectors.failures() == []
    assert injectors.stop() == []


def test_a_probe_that_gets_no_answer_is_given_up(injectors: Injectors) -> None:
    with pytest.raises(ServerFailed, match="the operations were not all answered within 0 s"):
        injectors.wait_until_through(0.05)


def test_they_are_stopped_by_their_files(launched: Launched, injectors: Injectors) -> None:
    assert injectors.stop() == []
    assert launched.stopped == []  # they have ended, and stay to be read
    assert injectors.failures() == []


def test_one_that_did_not_deliver_is_told(launched: Launched, injectors: Injectors) -> None:
    launched.codes["injector-1"] = 1  # before it was asked to
    launched.silent = {"injector-2"}
    assert [str(failure) for failure in injectors.stop()] == [
        "injector-1 ended with exit code 1",
        f"injector-2 wrote no summary: see {launched.folder / 'injector-2'}",
    ]


def test_one_that_does_not_end_is_told(
    launched: Launched, injectors: Injectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steering, "STOP_TIMEOUT", 0.05)
    monkeypatch.setattr(launched, "exit_code", lambda _: None)
    assert [str(failure) for failure in injectors.stop()] == [
        "injector-1 did not end within 0 s of its stop file",
        "injector-2 did not end within 0 s of its stop file",
    ]
    assert launched.stopped == ["injector-1", "injector-2"]


def test_operations_in_flight_have_the_time_that_they_may_take(
    launched: Launched, injectors: Injectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock()
    injectors.clock, injectors.drain_limit = clock, 65.0
    monkeypatch.setattr(launched, "exit_code", lambda _: 0 if clock.now - clock.epoch > 66 else None)
    for name in ("injector-1", "injector-2"):
        (launched.logs(name) / "summary.json").write_text("{}", encoding="utf-8")
    assert injectors.stop() == []


def test_messages_of_all_are_added_up_the_most_frequent_first(
    launched: Launched, injectors: Injectors
) -> None:
    for name, gone in {"injector-1": 1, "injector-2": 3}.items():
        said = [
            {"operation": "login", "message": "found 500", "count": 1},
            {"operation": "view", "message": "found 404", "count": gone},
        ]
        launched.end(name, summary=json.dumps({"errorMessages": said}))
    assert injectors.messages() == ["view: found 404", "login: found 500"]


def test_summaries_are_read_as_far_as_they_can_be(launched: Launched, injectors: Injectors) -> None:
    launched.end("injector-1", summary='{"firstAnswers": {"ping": 5}}')
    launched.end("injector-2", summary='{"firstAns')
    assert injectors.summaries() == [{"firstAnswers": {"ping": 5}}]
    launched.end("injector-2", summary="[1]")
    assert injectors.summaries() == [{"firstAnswers": {"ping": 5}}]


def test_health_counts_the_seconds_whose_middle_lies_in_the_window(launched: Launched) -> None:
    for second in range(6):
        outcomes = {"found": second}
        launched.say(
            "injector-1",
            epochMillis=(T + second) * 1000 + 20,
            requests=10,
            late=1,
            dropped=2,
            outcomes=outcomes,
        )
        launched.say("injector-2", epochMillis=(T + second) * 1000 + 990, requests=5, late=0, dropped=0)
    health = read_health([launched.logs("injector-1"), launched.logs("injector-2")], T + 1.0, T + 4.0)
    assert (health.missed, health.intended) == (9, 51)
    assert health.outcomes == {"found": 2 + 3 + 4}


def test_users_in_flight_are_those_of_all_injectors(launched: Launched) -> None:
    folders = [launched.logs("injector-1"), launched.logs("injector-2")]
    for second in range(1, 6):
        launched.say("injector-1", epochMillis=(T + second) * 1000, requests=10, userSeconds=7.5)
        launched.say("injector-2", epochMillis=(T + second) * 1000, requests=10, userSeconds=8.0)
    health = read_health(folders, T + 1.0, T + 5.0)
    assert (health.users, health.gap) == (15.5, 1.0)
    launched.say("injector-2", epochMillis=(T + 4) * 1000 + 500, requests=10)
    assert read_health(folders, T + 1.0, T + 5.0).users is None, "one line does not tell it"


def test_memory_is_that_of_the_injector_that_used_most(launched: Launched) -> None:
    folders = [launched.logs("injector-1"), launched.logs("injector-2")]
    for second, share in ((1, 0.99), (2, 0.2), (3, 0.1)):
        launched.say("injector-1", epochMillis=(T + second) * 1000, requests=1, memoryShare=share)
        launched.say("injector-2", epochMillis=(T + second) * 1000, requests=1, memoryShare=0.15)
    assert read_health(folders, T + 1.0, T + 3.0).memory == 0.2
    launched.say("injector-2", epochMillis=(T + 2) * 1000 + 500, requests=1)
    assert read_health(folders, T + 1.0, T + 3.0).memory is None, "one line does not tell it"


def test_the_last_word_of_an_injector_tells_of_less_than_a_second(launched: Launched) -> None:
    for at in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 6.412):  # a window of 6.29 s, from a real trial
        seconds = 1.0 if at.is_integer() else 0.412
        launched.say("injector-1", epochMillis=(T + at) * 1000, requests=100, userSeconds=48 * seconds)
    users = read_health([launched.logs("injector-1")], T, T + 6.29).users
    assert users == pytest.approx(48.0)


def test_cycle_times_are_those_of_all_injectors(launched: Launched) -> None:
    folders = [launched.logs("injector-1"), launched.logs("injector-2")]
    told = {"count": 2, "drawnSeconds": 9.5, "actualSeconds": 9.75}
    for second in range(1, 4):
        for name in ("injector-1", "injector-2"):
            cycles = {"cycles": {"home": told}} if second > 1 else {}
            launched.say(name, epochMillis=(T + second) * 1000, requests=2, **cycles)
    assert read_health(folders, T, T + 3.0).cycles == {"home": (8, 38.0, 39.0)}


def test_torn_and_odd_lines_are_passed_over(launched: Launched) -> None:
    launched.say("injector-1", epochMillis=T * 1000, requests=1, late=0, dropped=0)
    with (launched.logs("injector-1") / "health.jsonl").open("a", encoding="utf-8") as file:
        file.write('[1]\n"x"\n{"epochMillis": "a"}\n{"epochMillis": 1700000000000}\n{"epochMil')
    health = read_health([launched.logs("injector-1"), launched.folder / "nobody"], T - 5, T + 5)
    assert health.intended == 1


def test_per_second_rates_reach_as_far_as_all_injectors_tell(launched: Launched) -> None:
    folders = [launched.logs("injector-1"), launched.logs("injector-2")]
    for second in range(1, 6):
        launched.say("injector-1", epochMillis=(T + second) * 1000, requests=10 * second, late=0, dropped=0)
        if second < 4:
            launched.say("injector-2", epochMillis=(T + second) * 1000 + 3, requests=1, late=0, dropped=0)
    assert per_second(folders, T, T + 10.0) == [11, 21, 31]
    assert per_second(folders, T + 1.0, T + 2.0) == [21]
    assert per_second([*folders, launched.folder / "nobody"], T, T + 10.0) == []
    assert per_second([], T, T + 10.0) == []
    launched.say("injector-1", epochMillis=(T + 5) * 1000 + 412, requests=7)
    assert per_second(folders[:1], T, T + 10.0) == [10, 20, 30, 40, 50], "the last word is no whole second's"
