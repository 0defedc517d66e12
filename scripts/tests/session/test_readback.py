# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace
from typing import Any

import pytest

from steelyard.experiment.schema import JvmSettings
from steelyard.results.schema import InstanceRecord
from steelyard.sampling.gclog import GcSettings
from steelyard.session.readback import differences
from steelyard.units import MIB

SERVER = InstanceRecord(
    name="server-1", cpus=[0, 1], cpus_shared_with=1, cores=2, heap_bytes=512 * MIB, port=9080, jvm_options=[]
)
ASKED = JvmSettings.model_validate({"gc": "generational", "gc_threads": 2, "pages": "large"})
INFO = {"availableProcessors": 2}
GOOD = GcSettings(
    policy="gencon",
    max_heap=512 * MIB,
    initial_heap=None,
    page_size=2 * MIB,
    requested_page_size=2 * MIB,
    gc_threads=2,
    cpus=2,
    memory_limited=None,
    vm_args=(),
)


def test_what_was_asked_for_is_no_difference() -> None:
    assert differences(SERVER, ASKED, GOOD, INFO) == []


def test_settings_from_the_environment_read_back_too() -> None:
    server = SERVER.model_copy(update={"environment": {"EXECUTOR_THREADS": "64", "ACMEAIR_INDEXES": "none"}})
    said = {"executorThreads": "-1", "indexes": "none", "zone": "UTC"}
    assert differences(server, ASKED, GOOD, {**INFO, "settings": said}) == [
        "server-1 has executorThreads -1 instead of 64"
    ]
    assert differences(server, ASKED, GOOD, {**INFO, "settings": {**said, "executorThreads": "64"}}) == []


def test_without_a_gc_log_only_the_cpus_can_be_told() -> None:
    assert differences(SERVER, ASKED, None, {"availableProcessors": 1}) == [
        "server-1 sees 1 CPUs instead of 2"
    ]


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
    (sentence,) = differences(SERVER, ASKED, replace(GOOD, **change), INFO)
    assert says in sentence
