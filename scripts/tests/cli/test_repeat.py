# SPDX-License-Identifier: Apache-2.0
"""The command line that a session keeps for its repetition asks for the same."""

import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import typer
from typer.core import TyperGroup, TyperOption

from steelyard.cli import certify, gate, run
from steelyard.cli.app import app
from steelyard.errors import BadInput
from steelyard.session.opening import _NOT_REPEATED, repeat_command
from steelyard.session.plan import RunRequest

PLANS = {"run": (run, "make_plan"), "gate": (gate, "plan_gate"), "certify": (certify, "plan_certification")}
"""Where each command has its plan made."""
SHARED = [
    *("--quick", "--workload", "shop/a shop.yaml", "--set", "users=8", "--set", "gc_threads=2"),
    *("--engine", "kubernetes", "--jdk", "/opt/a jdk", "--port", "9100", "--context", "lab"),
    *("--namespace", "trials", "--json", "--out", "some where"),
]
OWN = {
    "run": [
        *("jvm-count", "--blocks", "7", "--profile", "jfr", "--profile", "perf", "--metrics-port", "9999"),
        *("--metrics-port=9998", "--resume"),
    ],
    "gate": [
        *("my gate.yaml", "--baseline", "image=shop:1", "--candidate", "-Xmx1g=it's", "--margin", "4%"),
        *("--metric", "throughput", "--time", "20m", "--duet", "--pool", "runners", "--certificates", "a b"),
    ],
    "certify": [
        *("my gate.yaml", "--baseline", "image=shop:1", "--blocks", "14", "--days", "2.5", "--duet"),
        *("--pool", "runners", "--certificates", "a b"),
    ],
}

Asked = Callable[[list[str]], tuple[RunRequest, tuple[Any, ...]]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What words of a command line ask for: the request, and what else its plan is made of."""
    seen: list[tuple[RunRequest, tuple[Any, ...]]] = []

    def plan(request: RunRequest, *more: Any) -> None:
        seen.append((request, more))
        raise BadInput("seen")

    for module, name in PLANS.values():
        monkeypatch.setattr(module, name, plan)

    def parsed(words: list[str]) -> tuple[RunRequest, tuple[Any, ...]]:
        monkeypatch.setattr(sys, "argv", ["steelyard", *words])
        with pytest.raises(BadInput, match="seen"):
            app(words, prog_name="./steelyard", standalone_mode=False)
        return seen[-1]

    return parsed


@pytest.mark.parametrize("seed", [[], ["--seed", "11"], ["--seed=11"]], ids=" ".join)
@pytest.mark.parametrize("command", PLANS)
def test_what_a_session_keeps_asks_for_the_same(asked: Asked, command: str, seed: list[str]) -> None:
    request, beside = asked([command, *OWN[command], *SHARED, *seed])
    script, *words = shlex.split(repeat_command(request.argv, 11))
    assert script == "./steelyard"
    assert not {word.partition("=")[0] for word in words} & _NOT_REPEATED.keys()
    again, beside_again = asked(words)
    assert replace(again, argv=()) == replace(request, argv=(), seed=11)
    assert beside_again == beside
    assert repeat_command(again.argv, 11) == shlex.join([script, *words])


def test_what_is_not_repeated_is_known_by_its_number_of_values() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    values = {
        name: int(not option.is_flag)
        for option in group.commands["run"].params
        if isinstance(option, TyperOption)
        for name in option.opts
    }
    assert _NOT_REPEATED.items() <= values.items()
