# SPDX-License-Identifier: Apache-2.0
"""What a journey can say, and what is refused with its line."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic_core import PydanticCustomError

from steelyard.errors import BadInput
from steelyard.measure.offered_load import expected_alone
from steelyard.paths import ROOT
from steelyard.spec.injectors import intended_mix
from steelyard.workload.expressions import check_expression, check_path, check_selector
from steelyard.workload.journey import Journey
from steelyard.workload.loader import load_workload

HEAD = """steelyard: 1
name: shop
version: "1"
title: A shop
topologies:
  one:
    about: one server
    components: {server: {role: server, process: {command: ["true"]}}}
    journey:
"""
FIRST = HEAD.count("\n") + 1
"""Line of the first key of a journey."""


def load(folder: Path, text: str) -> Journey:
    """The journey of a workload file that has this one."""
    path = folder / "shop.yaml"
    lines = [f"      {line}\n" for line in text.strip("\n").splitlines()]
    path.write_text(HEAD + "".join(lines), encoding="utf-8")
    load_workload.cache_clear()
    journey = load_workload(str(path)).workload.topologies["one"].journey
    assert journey is not None
    return journey


def played(*actions: dict[str, Any], **more: Any) -> Journey:
    return Journey.model_validate({**more, "visits": {"v": {"steps": list(actions)}}})


def step(name: str, **keys: Any) -> dict[str, Any]:
    return {"operation": name, "path": "/", **keys}


@pytest.mark.parametrize(
    ("action", "line", "says"),
    [
        ("{operation: a, path: /, save: {x: {css: a, which: 0}}}", 0, "which"),
        ("{operation: a, path: /, save: {x: {css: a, which: 4294967297}}}", 0, "which"),
        ("{operation: a, path: /, check: {status: 20}}", 0, "status"),
        ("{operation: a, path: /, check: {json: {$.a: 9223372036854775808}}}", 0, "whole numbers of 64 bits"),
        ("{operation: a, path: /, multipart: {f: {base64: '*', filename: b}}}", 0, "it cannot be decoded"),
        ("{operation: a, events: {path: /, expect: x, within: 601}}", 0, "within"),
        ("{operation: a, websocket: {path: /, expect: x, within: 11m}}", 0, "within"),
        ("{operation: a, websocket: {path: /, exchanges: [{expect: x, within: 11m}]}}", 0, "within"),
        ("{operation: a, path: /, save: {x: {css: a, cookie: b}}}", 0, "give exactly one of json, regex"),
        ("{operation: a, path: /, save: {x: {css: a, whihc: 1}}}", 0, "did you mean 'which'?"),
        ("{operation: a, path: /, save: {x: {cookie: a, which: last}}}", 0, "leave out which"),
        ("{operation: a, path: /, save: {x: {json: $.a, attribute: href}}}", 0, "give css, or leave it out"),
        ("{operation: a, path: /, save: {x: {css: 'a[href'}}}", 0, "[ is not closed: close it"),
        ("{operation: a, path: /, save: {x: {json: '$.[[['}}}", 0, "[ is not closed: close it"),
        ("{operation: a, path: /, check: {json: {'items.id': 1}}}", 0, "begin with `$`"),
        (
            '{operation: a, path: /, check: {matches: \'{"state": "done"}\'}}',
            0,
            r"write \{ for the character",
        ),
        ("{operation: a, path: /, save: {x: {css: a, part: '\\'}}}", 0, "a lone backslash"),
        ("{operation: a, submit: {form: f}}", 0, "the step before it asks for no page"),
        ("{operation: a, submit: {form: f}, body: x}", 0, "give its fields there"),
        ("{operation: a, events: {path: /, expect: x}, check: {status: 201}}", 0, "events stands alone"),
        ("{operation: a, events: {path: /, expect: x, save: {y: {css: a}}}}", 0, "unknown key"),
        ("{operation: a, websocket: {path: /}}", 0, "give exactly one of expect and exchanges"),
        (
            "{operation: a, websocket: {path: /, expect: x, exchanges: [{expect: y}]}}",
            0,
            "give exactly one of expect",
        ),
        ("{operation: a, websocket: {path: /, exchanges: []}}", 0, "at least 1 entry"),
        (
            "{operation: a, websocket: {path: /, within: 2, exchanges: [{expect: y}]}}",
            0,
            "in each of the exchanges",
        ),
        ("{operation: a, websocket: {path: /, exchanges: [{send: a}]}}", 0, "exchanges.0.expect' is missing"),
        (
            "{operation: a, websocket: {path: /, exchanges: [{expect: x}, {expect: y}]}}",
            0,
            "only the first of the exchanges may wait without a send",
        ),
        (
            "{operation: a, websocket: {path: /, exchanges: [{expect: x}, {send: '${y}', expect: x}]}}",
            0,
            "visit v, a: ${y} stands for nothing",
        ),
        ("{repeat: 2}", 0, "is missing: add it"),
        ("{repeat: [3, 2], steps: [{operation: a, path: /}]}", 0, "the first number is above the second"),
        ("{repeat: 2, steps: [{operation: a, pth: /}]}", 0, "did you mean 'path'?"),
        ("{repeat: 2, stps: [{operation: a, path: /}]}", 0, "did you mean 'steps'?"),
        ("{until: {saved: x}, at_most: 2, steps: [{operation: a, path: /}]}", 0, "x stands for nothing"),
        ("{until: {chance: 50%}, steps: [{operation: a, path: /}]}", 0, "at_most' is missing"),
        ("{if: {value: x}, steps: [{operation: a, path: /}]}", 0, "exactly one of is, is_not and matches"),
        ("{if: {chance: 50}, steps: [{operation: a, path: /}]}", 0, "chance"),
        (
            "{if: {value: '${y}', is: 1}, steps: [{operation: a, path: /}]}",
            0,
            "a block: ${y} stands for nothing",
        ),
        ("{each: ids, as: id, steps: [{operation: a, path: '/${id}'}]}", 0, "ids stands for nothing"),
        ("{one_of: []}", 0, "at least 1 entry"),
        ("{operation: a, path: /, pause: {think: 1, distribution: log-normal}}", 0, "which need it"),
        (
            "{operation: a, path: /, pause: {think: 1, distribution: uniform, minimum: 0.5, maximum: 2}}",
            0,
            "as far from the mean as minimum: 1.5 s",
        ),
        (
            "{operation: a, path: /}\n    - {operation: b, path: '/${x}'}",
            1,
            "visit v, b: ${x} stands for nothing",
        ),
        ("{operation: a, path: /, multipart: {f: {file: gone.bin}}}", 0, "gone.bin cannot be read (No such"),
        ("{operation: a, path: /, multipart: {f: {content: x}}}", 0, "filename is missing"),
        ("{operation: a, path: /, multipart: {f: {file: ../x}}}", 0, "outside of the workload file's folder"),
        ("{take: f}\n    - {operation: a, path: /}", 0, "a block: f stands for nothing"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(tmp_path: Path, action: str, line: int, says: str) -> None:
    with pytest.raises(BadInput) as refused:
        load(tmp_path, f"visits:\n  v:\n    steps:\n    - {action}")
    assert str(refused.value).startswith(f"{tmp_path}/shop.yaml:{FIRST + 3 + line}: ")
    assert says in str(refused.value)


EXPRESSIONS = json.loads((ROOT / "loadgen/src/test/resources/expressions.json").read_text(encoding="utf-8"))
CHECKS = {"pattern": check_expression, "json": check_path, "css": check_selector}


@pytest.mark.parametrize("row", EXPRESSIONS, ids=lambda row: row["text"])
def test_what_the_injector_would_refuse_is_no_expression_here(row: dict[str, Any]) -> None:
    """The injector's own test reads the same table (`ExpressionsTest`)."""
    check = CHECKS[row["is"]]
    if row["plan"] is None:
        check(row["text"])
        assert row["injector"]
    else:
        with pytest.raises(ValueError, match=re.escape(row["plan"])):
            check(row["text"])


def saving(name: str, **how: Any) -> dict[str, Any]:
    return step(f"saves-{name}", save={name: {"css": "a", **how}})


def using(name: str, **more: Any) -> dict[str, Any]:
    return step(f"uses-{name}", headers={"X": f"${{{name}}}"}, **more)


def login(*, keep: bool) -> dict[str, Any]:
    return saving("t", keep=keep)


def talk(*exchanges: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"operation": "talk", "websocket": {"path": "/", "exchanges": list(exchanges)}, **more}


IN_A_LOOP = [{"if": {"saved": "t"}, "steps": [using("t")], "else": [saving("t")]}]
CHAIN = [
    {"if": {"saved": "u"}, "steps": [using("u")]},
    {"if": {"saved": "t"}, "steps": [using("t"), saving("u")]},
    saving("t"),
]


@pytest.mark.parametrize(
    "visits",
    [
        [[saving("t"), using("t")]],
        [[login(keep=True)], [using("t")]],
        [[{"if": {"missing": "t"}, "steps": [login(keep=True)]}, using("t")]],
        [[{"if": {"saved": "t"}, "steps": [using("t")]}, login(keep=True)]],
        [[{"if": {"chance": 0.5}, "steps": [saving("t")]}, using("t")]],
        [[{"one_of": [{"steps": [saving("t")]}, {"steps": []}]}, using("t")]],
        [[{"repeat": 2, "steps": IN_A_LOOP}]],
        [[{"repeat": 3, "steps": CHAIN}]],
        [[{"repeat": 2, "steps": [using("t", optional=True), saving("t")]}]],
        [[{"until": {"saved": "t"}, "at_most": 3, "steps": [saving("t")]}, using("t")]],
        [[saving("t", which="all"), {"each": "t", "as": "x", "steps": [using("x")]}]],
        [[step("page", save={"t": {"css": "a"}}, parts=[{"path": "${t}"}])]],
        [
            [
                talk(
                    {"send": "a", "expect": "x", "save": {"t": {"regex": "x"}}},
                    {"send": "${t}", "expect": "x"},
                )
            ]
        ],
    ],
)
def test_a_name_may_be_used_where_an_answer_can_have_given_it(visits: list[list[dict[str, Any]]]) -> None:
    written = {f"v{number}": {"steps": steps} for number, steps in enumerate(visits)}
    Journey.model_validate({"visits": written}).require_names([])


LATER = "${t} has no value there: the steps that save it come later"


@pytest.mark.parametrize(
    ("visits", "at", "says"),
    [
        ([[login(keep=False)], [using("t")]], "v1.steps.0", "${t} has no value there: visit v0 saves it for"),
        (
            [[login(keep=False)], [{"if": {"saved": "t"}, "steps": [step("a")]}]],
            "v1.steps.0",
            "a block: t has",
        ),
        ([[using("t"), saving("t")]], "v0.steps.0", LATER),
        ([[using("t"), login(keep=True)]], "v0.steps.0", LATER),
        ([[{"repeat": 2, "steps": [using("t"), saving("t")]}]], "v0.steps.0.steps.0", LATER),
        ([[{"repeat": 1, "steps": IN_A_LOOP}]], "v0.steps.0.steps.0.steps.0", LATER),
        ([[using("t", optional=True), saving("t")]], "v0.steps.0", LATER),
        (
            [[{"if": {"chance": 0.5}, "steps": [saving("t")], "else": [using("t")]}]],
            "v0.steps.0.else.0",
            "or on another branch: move one of them before this",
        ),
        (
            [[{"one_of": [{"steps": [saving("t")]}, {"steps": [using("t")]}]}]],
            "v0.steps.0.one_of.1.steps.0",
            LATER,
        ),
        ([[{"each": "t", "as": "x", "steps": [using("x")]}, saving("t")]], "v0.steps.0", "a block: t has no"),
        ([[step("page", parts=[{"path": "${t}"}]), saving("t")]], "v0.steps.0", LATER),
        (
            [[talk({"expect": "x"}, {"send": "${t}", "expect": "x", "save": {"t": {"regex": "x"}}})]],
            "v0.steps.0",
            LATER,
        ),
    ],
)
def test_a_name_that_no_answer_can_have_given_is_refused(
    visits: list[list[dict[str, Any]]], at: str, says: str
) -> None:
    written = {f"v{number}": {"steps": steps} for number, steps in enumerate(visits)}
    with pytest.raises(PydanticCustomError) as refused:
        Journey.model_validate({"visits": written}).require_names([])
    assert says in refused.value.message()
    assert refused.value.context is not None
    assert ".".join(map(str, refused.value.context["at"])) == f"journey.visits.{at}"


def test_what_always_has_a_value_may_be_saved_as_well() -> None:
    journey = played(using("t"), saving("t"), variables={"t": {"user": 1}})
    journey.require_names([])
    played(using("t"), saving("t")).require_names(["t"])
    with pytest.raises(PydanticCustomError, match="t is a variable, drawn again at each visit"):
        played(login(keep=True), variables={"t": {"user": 1}}).require_names([])


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("http2: true\nvisits: {v: {steps: [{operation: a, path: /}]}}", 0, "journey.http2"),
        ("visits: {v: {steps: [{operation: a, path: /, http2: true}]}}", 0, "visits.v.steps.0.http2"),
    ],
)
def test_http2_is_refused_with_what_injectors_speak(tmp_path: Path, text: str, line: int, key: str) -> None:
    with pytest.raises(
        BadInput, match=rf"shop\.yaml:{FIRST + line}: unknown key '.*{key}': injectors speak HTTP/1"
    ):
        load(tmp_path, text)


ROWS = "visits: {{v: {{steps: [{{operation: a, path: '/${{f.id}}'}}]}}}}\nfeeders:\n  f: {}"


def test_rows_of_csv_go_to_the_injector(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text('\ufeffid,name\r\n1,"a, ""b"""\r\n\r\n2,"c\nd"\r\n', encoding="utf-8")
    document = load(tmp_path, ROWS.format("{csv: f.csv, order: user}")).document()
    assert document["feeders"] == {
        "f": {"columns": ["id", "name"], "rows": [["1", 'a, "b"'], ["2", "c\nd"]], "order": "user"}
    }
    assert Journey.model_validate(document).own_rows() == {"f": 2}


def test_rows_of_json_go_to_the_injector(tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text('[{"id": 1, "x": null}, {"id": "b", "x": [true]}]', encoding="utf-8")
    feeder = load(tmp_path, ROWS.format("{json: f.json}")).document()["feeders"]["f"]
    assert feeder == {"columns": ["id", "x"], "rows": [["1", "null"], ["b", "[true]"]], "order": "circular"}


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("f.csv", b"id\n1,2\n", "f.csv:2: 2 values for the 1 columns of the first line"),
        ("f.csv", b"id\n", "f.csv has no rows"),
        ("f.csv", b'id\n"a', "f.csv:2: not valid CSV"),
        ("f.csv", b"id,id\n1,2\n", "stands there twice"),
        ("f.csv", b"id\n\xff\n", "f.csv is no text (UTF-8)"),
        ("f.csv", b"id\n" + b"1\n" * 600_000, "more than 1024 KiB"),
        ("f.csv", None, "f.csv cannot be read (No such file or directory)"),
        ("f.json", b"{}", "must hold a list of objects"),
        ("f.json", b'[{"id": 1}, {"no": 1}]', "object 2 has other keys than the first"),
        ("f.json", b"[", "not valid JSON"),
        ("../f.csv", b"id\n1\n", "lies outside of the workload file's folder"),
    ],
)
def test_files_that_are_no_rows(tmp_path: Path, name: str, content: bytes | None, says: str) -> None:
    if content is not None:
        (tmp_path / name).resolve().write_bytes(content)
    kind = name.rpartition(".")[2]
    with pytest.raises(BadInput) as refused:
        load(tmp_path, ROWS.format(f"{{{kind}: {name}}}"))
    assert str(refused.value).startswith(f"{tmp_path}/shop.yaml:{FIRST + 2}: ")
    assert says in str(refused.value)


def test_a_column_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("name\nx\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"\$\{f\.id\} stands for nothing.*there are f\.name"):
        load(tmp_path, ROWS.format("{csv: f.csv}"))


def test_files_are_sent_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "p.png").write_bytes(b"\x89PNG\xff")
    steps = "visits: {v: {steps: [{operation: a, method: POST, path: /, multipart: {f: {file: p.png}}}]}}"
    (sent,) = load(tmp_path, steps).visits["v"].flat()
    assert sent.multipart is not None
    assert json.loads(sent.model_dump_json(exclude_none=True))["multipart"] == {
        "f": {"base64": "iVBOR/8=", "filename": "p.png", "type": "image/png"}
    }


def test_the_mix_counts_what_can_be_foreseen() -> None:
    journey = played(
        step("a"),
        {"repeat": 3, "steps": [step("b")]},
        {"repeat": [1, 4], "steps": [step("c")]},
        {"if": {"chance": "25%"}, "steps": [step("d")], "else": [step("b")]},
        {"one_of": [{"weight": 3, "steps": [step("e")]}, {"steps": [step("f"), step("f")]}]},
    )
    (part,) = journey.parts()
    assert part.operations == {"a": 1, "b": 3.75, "c": 2.5, "d": 0.25, "e": 0.75, "f": 0.5}
    assert journey.unforeseen_operations() == set()


def test_each_exchange_of_a_socket_is_an_operation() -> None:
    exchanges = [
        {"expect": "hello"},
        {"operation": "ask", "send": "a", "expect": "b"},
        {"send": "c", "expect": "d"},
    ]
    journey = played({"repeat": 2, "steps": [talk(*exchanges)]}, step("a"))
    assert journey.operations() == ["talk", "ask", "a"]
    (part,) = journey.parts()
    assert part.operations == {"talk": 4, "ask": 2, "a": 1}
    looped = played({"until": {"chance": 0.5}, "at_most": 3, "steps": [talk(*exchanges)]})
    assert looped.unforeseen_operations() == {"talk", "ask"}


def test_what_answers_decide_is_left_out_of_the_mix() -> None:
    journey = played(
        step("a", save={"ids": {"css": "a", "which": "all"}}),
        step("b"),
        {"until": {"saved": "ids"}, "at_most": 9, "steps": [step("a")]},
        {"each": "ids", "as": "id", "steps": [step("c")]},
        {"if": {"missing": "ids"}, "steps": [step("d")]},
    )
    assert journey.unforeseen_operations() == {"a", "c", "d"}
    assert intended_mix(journey.parts()) == {"b": 1.0}
    assert expected_alone({"a": 0.5, "b": 0.3, "e": 0.2}, ["a"]) == pytest.approx({"b": 0.6, "e": 0.4})
    journey.require_names([])
    assert intended_mix(played({"each": "x", "as": "y", "steps": [step("c")]}).parts()) == {}


def test_forms_and_blocks_are_handed_on() -> None:
    written = yaml.safe_load("""
        gzip: true
        visits:
          v:
            steps:
              - {operation: page, path: /}
              - {operation: send, submit: {form: "#f", fields: {a: b}}}
              - repeat: 2
                steps:
                  - {operation: poll, path: /, save: {s: {json: $.s}}}
              - until: {value: "${s}", is: done}
                at_most: 5
                optional: true
                steps: [{operation: poll, path: /}]
              - if: {chance: 10%}
                steps: [{operation: poll, path: /}]
              - {operation: told, events: {path: /e, headers: {A: b}, expect: x, save: {y: {regex: x}}}}
              - {operation: socket, websocket: {path: /w, headers: {A: b}, protocol: chat, expect: x}}
              - operation: talk
                websocket:
                  path: /w
                  exchanges:
                    - {expect: x}
                    - {operation: ask, send: b, expect: x, within: 2s, save: {y: {regex: x}}, pause: {think: 1s}}
    """)
    document = Journey.model_validate(written).document()
    steps = document["visits"]["v"]["steps"]
    assert document["gzip"] is True
    assert steps[1]["submit"] == {"form": "#f", "fields": {"a": "b"}}
    assert "method" not in steps[1]
    assert (steps[2]["repeat"], steps[3]["at_most"], steps[3]["until"]["is"]) == (2, 5, "done")
    assert steps[4]["if"] == {"chance": 0.1}
    assert steps[5]["events"]["save"]["y"]["regex"] == "x"
    assert steps[5]["events"]["headers"] == steps[6]["websocket"]["headers"] == {"A": "b"}
    assert steps[6]["websocket"]["protocol"] == "chat"
    first, second = steps[7]["websocket"]["exchanges"]
    assert first == {"expect": "x", "save": {}}
    assert (second["operation"], second["within"], second["pause"]["think"]) == ("ask", 2.0, 1.0)
    assert Journey.model_validate(document).document() == document
