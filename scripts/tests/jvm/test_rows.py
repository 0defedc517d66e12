# SPDX-License-Identifier: Apache-2.0
"""The rows of settings: each is whole, and one more is one more everywhere."""

from typing import Any

import pytest
from added import copy_checkout, example, insert, run_in_copy

from steelyard.documented import field_texts
from steelyard.jvm.reference import fill_page
from steelyard.jvm.settings import SETTINGS, JvmSettings
from steelyard.paths import ROOT

PAGE = ROOT / "docs" / "openj9.md"
ASKED = """
import json
import sys

from builders import make_jvm
from planned import asked, processes, specs_of

from steelyard.errors import BadInput
from steelyard.experiment.schema import Experiment
from steelyard.jvm.options import hotspot_facts
from steelyard.jvm.reference import fill_page
from steelyard.spec.agreement import differences, requested_settings

question = asked("ping", factors={"pre_touch": {"levels": ["default", True, False]}})
specs = specs_of(question)
on = specs["pre-touch-true"].servers[0]
told = {"heap": 1, **requested_settings(on)}
try:
    specs_of(question, runtime=processes(make_jvm("openj9", 21)))
    refused = None
except BadInput as error:
    refused = str(error)
json.dump(
    {
        "schema": Experiment.model_json_schema()["$defs"]["JvmSettings"]["properties"]["pre_touch"],
        "options": {arm: spec.servers[0].jvm_options for arm, spec in specs.items()},
        "refused": refused,
        "read back": on.read_back,
        "told": hotspot_facts("-XX:+AlwaysPreTouch -XX:MaxHeapSize=67108864"),
        "same": differences(on, [told]),
        "other": differences(on, [{**told, "pre_touch": "off"}]),
        "page": fill_page(open(sys.argv[1], encoding="utf-8").read()),
    },
    sys.stdout,
)
"""


def test_every_field_is_a_row_and_every_row_says_what_it_is_good_for() -> None:
    assert list(SETTINGS) == list(JvmSettings.model_fields)
    assert field_texts(JvmSettings).keys() == SETTINGS.keys()


def test_the_table_of_the_page_is_what_the_rows_say() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == fill_page(page), "it is old: python -m steelyard.jvm.reference ../docs/openj9.md"
    assert fill_page(page.replace("-Xgcthreads", "-Xthreads")) == page
    with pytest.raises(ValueError, match="0 tables with the header"):
        fill_page("# No table")


@pytest.fixture(scope="module")
def with_row(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a copy of the checkout says of a setting that has one row more."""
    package = copy_checkout(tmp_path_factory.mktemp("checkout"))
    insert(package / "jvm" / "settings.py", "    gc_log: bool = row(\n", example("A setting"))
    return run_in_copy(package, "-c", ASKED, PAGE)


def test_one_row_more_is_in_the_schema(with_row: dict[str, Any]) -> None:
    assert with_row["schema"]["description"] == "Whether the heap is touched page by page at the start."
    assert with_row["schema"]["default"] == "default"


def test_one_row_more_is_in_the_plan(with_row: dict[str, Any]) -> None:
    flags = {
        arm: [option for option in options if "AlwaysPreTouch" in option]
        for arm, options in with_row["options"].items()
    }
    assert flags == {
        "pre-touch-default": [],
        "pre-touch-true": ["-XX:+AlwaysPreTouch"],
        "pre-touch-false": ["-XX:-AlwaysPreTouch"],
    }
    assert with_row["refused"] == (
        "pre_touch: true does not exist on Eclipse OpenJ9 VM: HotSpot alone has it: leave it out"
    )


def test_one_row_more_is_read_back(with_row: dict[str, Any]) -> None:
    assert "pre_touch" in with_row["read back"]
    assert with_row["told"]["pre_touch"] == "on"
    assert with_row["same"] == []
    assert [text.partition(" has ")[2] for text in with_row["other"]] == ["pre_touch off instead of on"]


def test_one_row_more_is_in_the_reference(with_row: dict[str, Any]) -> None:
    options = "`true` `-XX:+AlwaysPreTouch`; `false` `-XX:-AlwaysPreTouch`"
    row = f"| `pre_touch` | - | - | {options} | `VM.flags` | A page each |\n"
    assert with_row["page"].replace(row, "") == PAGE.read_text(encoding="utf-8")
    assert row in with_row["page"]
