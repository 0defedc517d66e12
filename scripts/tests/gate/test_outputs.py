# SPDX-License-Identifier: Apache-2.0
"""What a gate leaves for people and programs."""

import json
import re
from xml.etree import ElementTree

import pytest
from pairs import gate, pairs

from steelyard.cli.gate import _print
from steelyard.gate.outputs import Bar, bars_of, chart, to_annotations, to_junit, to_markdown, write_outputs
from steelyard.gate.result import conclude
from steelyard.report.verdict import verdict_sentences
from steelyard.results.gate import GateResult

SIDES = {"baseline": "a`|\n<b>@x", "candidate": "change"}


def ended(outcome, **changes):
    session = gate(sides=SIDES, **changes)
    if outcome == "regression":
        bad = pairs(0.08, throughput=-0.07, memory_rss=0.0)
        return conclude((session, bad), (gate(confirms="x"), bad))
    trials = pairs(0.0 if outcome == "pass" else 0.015, 0.003 if outcome == "pass" else 0.1, throughput=0.0)
    return conclude((session, trials), None)


@pytest.mark.parametrize("outcome", ["pass", "regression", "inconclusive"])
def test_everything_says_the_same(tmp_path, outcome):
    result = ended(outcome)
    assert result.outcome == outcome
    written = {path.name: path.read_text(encoding="utf-8") for path in write_outputs(tmp_path, result)}
    assert list(written) == ["gate.json", "gate.md", "gate.junit.xml", "gate.annotations"]
    assert GateResult.model_validate(json.loads(written["gate.json"])) == result
    suite = ElementTree.fromstring(written["gate.junit.xml"].encode())
    case = suite.find("testcase")
    kinds = {"pass": None, "regression": "failure", "inconclusive": "skipped"}
    assert [child.tag for child in case if child.tag != "system-out"] == [
        kind for kind in [kinds[outcome]] if kind
    ]
    assert suite.get("failures") == str(int(outcome == "regression"))
    assert int(suite.get("tests")) == len(suite.findall("testcase"))
    first = written["gate.annotations"].splitlines()[0]
    assert first.startswith(
        {"pass": "::notice ", "regression": "::error ", "inconclusive": "::warning "}[outcome]
    )
    assert first.endswith(result.sentence.replace("%", "%25"))
    assert written["gate.md"].startswith("<!-- steelyard-gate: app cpu_per_1k -->\n")


def test_what_people_called_their_sides_breaks_nothing() -> None:
    text = to_markdown(ended("regression"))
    head = text.splitlines()[1]
    assert head.endswith("Regression: `change` against `a'/ <b>@x`")
    for line in text.splitlines():
        assert not line.startswith("::")
    result = ended("pass", abstains=["a | <b> `c` @everyone [x](y)\n::error::no"])
    assert "@everyone" not in to_markdown(result)
    assert re.search(r"<b>|`c`|\]\(y", to_markdown(result).split("###")[1].split("\n", 1)[1]) is None
    assert len(to_annotations(result).splitlines()) == 1


def test_the_chart_shows_harm_to_the_right() -> None:
    rows = chart([Bar("cpu", 0.02, 0.04, 0.06), Bar("rate", -0.03, -0.02, -0.01)], 0.03)
    bad, good, axis = rows
    line = axis.index("margin")
    zero = axis.index("0")
    assert zero < line
    assert zero < bad.index("[") < line < bad.index("o") < bad.rindex("]")
    assert good.index("]") < zero
    assert bad.endswith("+4.0 % harm")
    assert bad.index("[") - zero == 2 * (axis.index("margin") - zero) // 3, (
        "drawn to scale: 2 % of a margin of 3 %"
    )


@pytest.mark.parametrize("harm", [0.0, 5.0, -0.9])
def test_the_chart_holds_any_figure(harm):
    for row in chart([Bar("x", harm - 0.01, harm, harm + 0.01)], 0.03):
        assert len(row) < 100


def test_a_gain_of_throughput_is_no_harm() -> None:
    result = ended("regression")
    text = to_markdown(result)
    assert "| throughput |" in text.lower()
    assert "**worse**" in text
    assert "+7." in next(line for line in text.splitlines() if line.startswith("Throughput "))


def test_a_gate_that_ran_nothing_says_so() -> None:
    result = conclude((gate(abstains=["the host is busy"]), []), None)
    text = to_markdown(result)
    assert "Inconclusive: the host is busy." in text
    assert "nothing was run" in text
    assert "```" not in text
    assert ElementTree.fromstring(to_junit(result).encode()).find("testcase/skipped") is not None


def test_what_the_certificate_does_not_hold_for_stands_beside_the_answer(capsys):
    told = (
        "the noise certificate is of the baseline's JVM (hotspot 17); the candidate runs another (openj9 21)"
    )
    result = ended("pass", notes=[told])
    assert result.notes == [told]
    assert f"\n{told[0].upper()}{told[1:]}.\n" in to_markdown(result)
    _print(result)
    assert told in capsys.readouterr().out


def test_a_metric_without_a_better_direction_has_moved_and_harms_nothing(capsys):
    """The load sets the rate of arrivals: throughput is no harm and no gain, and yet it is not the same."""
    result = ended("regression")
    beside = [one.model_copy(update={"better": "neither", "worse": None}) for one in result.beside]
    moved = next(one for one in beside if one.metric == "throughput")
    assert moved.shown
    told = result.model_copy(update={"beside": beside})
    row = next(line for line in to_markdown(told).splitlines() if line.startswith("| Throughput"))
    assert row.endswith("| yes |")
    assert [bar.label for bar in bars_of(told)] == [bar.label for bar in bars_of(result)][:2]
    assert any("Throughput" in sentence for sentence in verdict_sentences(gate(sides=SIDES), told))
    _print(told)
    line = next(line for line in capsys.readouterr().out.splitlines() if "beside it: Throughput" in line)
    assert line.endswith(", beyond noise")


ODD = "a\x1b[31m\x00 | `c` <b> $x$ --> ]]> %0A\n::error::no"


def test_odd_text_breaks_no_output(tmp_path):
    """XML has no control characters, a comment ends at `--`, a runner obeys lines that begin with two colons."""
    asked = ended("regression")
    looks = [one.model_copy(update={"sentence": ODD}) for one in asked.looks]
    beside = [one.model_copy(update={"label": ODD, "metric": ODD}) for one in asked.beside]
    changes = {
        "sentence": ODD,
        "notes": [ODD],
        "workload": f"{ODD} 2",
        "label": ODD,
        "session": ODD,
        "sides": SIDES,
    }
    odd = asked.model_copy(update={**changes, "metric": ODD, "looks": looks, "beside": beside})
    written = {path.name: path.read_text(encoding="utf-8") for path in write_outputs(tmp_path, odd)}
    for name in ("gate.md", "gate.junit.xml", "gate.annotations"):
        assert not re.search(r"[\x00-\x09\x0b-\x1f]", written[name]), name
    suite = ElementTree.fromstring(written["gate.junit.xml"].encode())
    assert "\\x1b[31m" in (suite.findtext("testcase/system-out") or "")
    lines = written["gate.annotations"].splitlines()
    assert all(line.startswith(("::error title=", "::warning title=")) for line in lines)
    assert len(lines) == 1 + sum(bool(one.worse) for one in asked.beside)
    first, *rest = written["gate.md"].splitlines()
    assert first.index("-->") == len(first) - 3
    assert not any(line.startswith("::") for line in rest)
    before, _, after = written["gate.md"].split("```")  # the chart is one block, in which all is text
    assert "<b>" not in (before + after).replace("`a'/ <b>@x`", "")
    table = [line for line in rest if line.startswith("|")]
    assert {line.count("|") for line in table} == {5}
