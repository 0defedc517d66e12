# SPDX-License-Identifier: Apache-2.0
"""What the JUnit files of pytest and of Maven's plugins say of a run."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from suite import ROOT

_MAVEN = ("apps/**/target/*-reports/TEST-*.xml", "loadgen/target/*-reports/TEST-*.xml")


class Outcome(NamedTuple):
    """One test of a report."""

    name: str
    seconds: float
    failure: str | None
    """The first line of what it said, where it failed."""
    is_skipped: bool
    is_retried: bool
    """Whether it passed at its second try, by Maven's account; pytest's are in `suite.RETRIED`."""


def read_report(report: Path) -> list[Outcome]:
    """The tests of a JUnit file.

    Raises:
        OSError: it is not there.
        ElementTree.ParseError: it is damaged, as a crash leaves it.
    """
    return [_read_case(case) for case in ElementTree.parse(report).getroot().iter("testcase")]


def _read_case(case: ElementTree.Element) -> Outcome:
    failures = [*case.iter("failure"), *case.iter("error")]
    said = [(failure.get("message") or failure.text or "").strip() for failure in failures]
    return Outcome(
        name=f"{case.get('classname')}.{case.get('name')}",
        seconds=float((case.get("time") or "0").replace(",", "")),
        failure=next(iter(said[0].splitlines()), "") if said else None,
        is_skipped=case.find("skipped") is not None,
        is_retried=case.find("flakyFailure") is not None or case.find("flakyError") is not None,
    )


def merge_tries(tests: Iterable[Outcome]) -> list[Outcome]:
    """One outcome for each test of pytest: its report has an entry for each try, and one for a teardown that fails."""
    merged: dict[str, Outcome] = {}
    for test in tests:
        earlier = merged.get(test.name, test)
        failure = test.failure if test.failure is not None else earlier.failure
        merged[test.name] = test._replace(failure=failure)
    return list(merged.values())


def maven_reports(since: float, root: Path = ROOT) -> list[Path]:
    """The reports that Maven's plugins wrote after the epoch time `since`."""
    paths = [path for pattern in _MAVEN for path in root.glob(pattern)]
    return sorted(path for path in paths if path.stat().st_mtime >= since)


def count(tests: Iterable[Outcome]) -> Counter[str]:
    """Numbers of `passed`, `failed` and `skipped`."""
    return Counter("failed" if test.failure is not None else _verdict(test) for test in tests)


def _verdict(test: Outcome) -> str:
    return "skipped" if test.is_skipped else "passed"


def slowest(tests: Iterable[Outcome], number: int = 20) -> list[Outcome]:
    """The tests that took longest, the longest first; what a run shares is part of the first test that needed it."""
    return sorted(tests, key=lambda test: -test.seconds)[:number]
