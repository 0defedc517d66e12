# SPDX-License-Identifier: Apache-2.0
"""What one user of a journey is told to do, and what people are shown of it."""

from typing import Any

import pytest

from steelyard.errors import BadInput
from steelyard.session.journey_try import MOST_SHOWN, Operation, summary_lines, try_settings
from steelyard.workload.loader import load_workload


def test_one_user_makes_each_visit_once() -> None:
    topology = load_workload("ping").workload.topologies["single"]
    settings = try_settings(topology, {}, "http://h:1", None)
    assert (settings["model"], settings["targets"], "mix" in settings) == ("try", ["http://h:1"], False)
    assert settings["journey"]["visits"]["ping"]["steps"][0]["path"] == "/ping"
    assert try_settings(topology, {}, "http://h:1", "ping")["mix"] == {"ping": 100}
    with pytest.raises(BadInput, match=r"no visit 'pin' \(did you mean 'ping'\?\): there are ping"):
        try_settings(topology, {}, "http://h:1", "pin")
    acmeair = next(iter(load_workload("acmeair").workload.topologies.values()))
    with pytest.raises(BadInput, match="only a journey in a workload file can be tried"):
        try_settings(acmeair, {}, "http://h:1", None)


def operation(**keys: Any) -> Operation:
    exchange = {
        "method": "POST",
        "url": "http://h:1/a",
        "request_headers": {"accept": "*/*"},
        "request_body": "x=1",
        "status": 500,
        "headers": {"Content-Type": "text/plain"},
        "body": "line\n" + "y" * MOST_SHOWN,
    }
    made = {"operation": "a", "millis": 1.25, "failed": False, "saved": {}, "exchanges": [exchange], **keys}
    return Operation.model_validate(made)


def test_a_right_operation_has_its_lines() -> None:
    lines = list(summary_lines([operation(saved={"id": "7", "all": ["1", "2"]})]))
    assert lines[0].split() == ["a", "500", "POST", "http://h:1/a", f"{MOST_SHOWN + 5:,}", "characters"]
    assert [line.strip() for line in lines[1:]] == ["right after 1.2 ms", "id = 7", "all = [1, 2]"]


def test_visits_that_send_nothing_are_told() -> None:
    assert [*summary_lines([])] == ["no operation was sent: no condition of these visits held"]


def test_a_failed_operation_is_shown_in_full() -> None:
    text = "\n".join(summary_lines([operation(failed=True, message="found 500")]))
    for line in (
        "failed after",
        "found 500",
        "> accept: */*",
        "> x=1",
        "< 500",
        "< Content-Type: text/plain",
        "< line",
    ):
        assert line in text
    assert "... and 5 characters more" in text
    (first, *_) = summary_lines([operation(failed=True, exchanges=[])])
    assert "no HTTP answer was read" in first
