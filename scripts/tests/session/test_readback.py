# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace
from typing import Any

import pytest

from steelyard.experiment.schema import JvmSettings
from steelyard.results.spec import Artifact, Component
from steelyard.sampling.gclog import GcSettings
from steelyard.session.readback import differences
from steelyard.units import MIB

ASKED = JvmSettings.model_validate({"gc": "generational", "gc_threads": 2, "pages": "large"})
SERVER = Component(
    name="server-1",
    kind="server",
    role="server",
    artifact=Artifact(form="liberty"),
    cpus=[0, 1],
    heap_bytes=512 * MIB,
    jvm_settings=ASKED,
    expected_info={"executorThreads": "64", "indexes": "none"},
)
PLAIN = SERVER.model_copy(update={"expected_info": {}})
INFO = {"availableProcessors": 2}
GOOD = GcSettings(
    policy="gencon",
    max_heap=512 * MIB,
    page_size=2 * MIB,
    gc_threads=2,
)


def test_what_was_asked_for_is_no_difference() -> None:
    assert differences(PLAIN, GOOD, INFO) == []
    assert differences(PLAIN, GOOD, {}) == []


def test_what_a_server_says_of_itself_is_compared() -> None:
    said = {"executorThreads": 64, "indexes": "none", "zone": "UTC"}
    assert differences(SERVER, GOOD, {**INFO, "settings": said}) == []
    assert differences(SERVER, GOOD, {**INFO, "settings": {"executorThreads": "-1"}}) == [
        "server-1 has executorThreads -1 instead of 64",
        "server-1 does not say its indexes, which should be none",
    ]
    assert len(differences(SERVER, GOOD, {})) == 2


def test_a_gc_log_that_is_missing_is_a_difference() -> None:
    assert differences(PLAIN, None, {"availableProcessors": 1}) == [
        "server-1 sees 1 CPUs instead of 2",
        "server-1 wrote no GC log, so heap, collector and GC threads are not known",
    ]
    unlogged = ASKED.model_copy(update={"gc_log": False})
    assert differences(PLAIN.model_copy(update={"jvm_settings": unlogged}), None, INFO) == []
    assert differences(PLAIN.model_copy(update={"jvm_settings": None}), None, INFO) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"policy": "optthruput"}, "collects with optthruput instead of gc: generational"),
        ({"max_heap": 256 * MIB}, "maximum heap of 256 MiB instead of 512 MiB"),
        ({"gc_threads": 1}, "1 GC threads instead of 2"),
        ({"page_size": 4096}, "pages of 4 KiB although pages: large was asked for"),
    ],
)
def test_each_setting_that_differs_is_told(change: dict[str, Any], says: str) -> None:
    (sentence,) = differences(PLAIN, replace(GOOD, **change), INFO)
    assert says in sentence
