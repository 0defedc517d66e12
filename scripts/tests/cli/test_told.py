# SPDX-License-Identifier: Apache-2.0
"""The command line that a session tells for its repetition asks for the same."""

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup, TyperOption

from steelyard.cli import certify, gate, run
from steelyard.cli.app import app
from steelyard.errors import BadInput
from steelyard.session.plan import Request

PLANS = {"run": (run, "make_plan"), "gate": (gate, "plan_gate"), "certify": (certify, "plan_certification")}
"""Where each command has its plan made."""
SHARED = [
    *("--quick", "--workload", "shop/a shop.yaml", "--set", "users=8", "--set", "gc_threads=2"),
    *("--engine", "kubernetes", "--jdk", "/opt/a jdk", "--port", "9100", "--context", "lab"),
    *("--namespace", "trials"),
]
OWN = {
    "run": ["jvm-count", "--blocks", "7", "--profile", "jfr", "--profile", "perf"],
    "gate": [
        *("my gate.yaml", "--baseline", "image=shop:1", "--candidate", "-Xmx1g=it's", "--margin", "4%"),
        *("--metric", "throughput", "--time", "20m", "--duet", "--pool", "runners", "--certificates", "a b"),
    ],
    "certify": [
        *("my gate.yaml", "--baseline", "image=shop:1", "--blocks", "14", "--days", "2.5", "--duet"),
        *("--pool", "runners", "--certificates", "a b"),
    ],
}
NOT_ASKED = {"--json", "--out", "--go-on", "--metrics-port", "--resume", "--session", "--help", "--seed"}
"""No part of the question: where results go, how they are shown, what goes on; a seed is told as drawn."""

Asked = Callable[[list[str]], tuple[Request, tuple[Any, ...]]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What words of a command line ask for: the request, and what else its plan is made of."""
    seen: list[tuple[Request, tuple[Any, ...]]] = []

    def plan(request: Request, *more: Any) -> None:
        seen.append((request, more))
        raise BadInput("seen")

    for module, name in PLANS.values():
        monkeypatch.setattr(module, name, plan)

    def parsed(words: list[str]) -> tuple[Request, tuple[Any, ...]]:
        with pytest.raises(BadInput, match="seen"):
            app(words, prog_name="./steelyard", standalone_mode=False)
        return seen[-1]

    return parsed


@pytest.mark.parametrize("more", [True, False], ids=["everything", "what it takes"])
@pytest.mark.parametrize("command", PLANS)
def test_what_a_session_tells_asks_for_the_same(asked: Asked, command: str, more: bool) -> None:
    needed = {"run": ["jvm-count"], "gate": ["--baseline=a", "--candidate=b"], "certify": []}
    given = [command, *OWN[command], *SHARED] if more else [command, *needed[command]]
    request, beside = asked(given)
    assert request.verb == command
    script, *words = shlex.split(request.command(11))
    assert script == "./steelyard"
    assert asked(words) == (replace(request, seed=11), beside)


@pytest.mark.parametrize("command", PLANS)
def test_every_option_of_a_question_is_told(command: str) -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    there = {
        name for one in group.commands[command].params if isinstance(one, TyperOption) for name in one.opts
    }
    assert there - NOT_ASKED == {word for word in [*OWN[command], *SHARED] if word.startswith("--")}


def test_a_gate_says_where_its_certificates_are_and_not_where_its_results(
    asked: Asked, tmp_path: Path
) -> None:
    sides = ["--baseline=a", "--candidate=b"]
    assert "certificates" not in asked(["gate", *sides])[0].command(1)
    told = asked(["gate", *sides, "--out", str(tmp_path)])[0].command(1)
    assert f"--certificates={tmp_path / 'certificates'}" in told
    assert "--out" not in told
