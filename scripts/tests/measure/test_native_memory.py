# SPDX-License-Identifier: Apache-2.0
"""HotSpot's own account of its memory, as JDK 17 and 25 told it (`fixtures/jvm`)."""

from dataclasses import replace
from pathlib import Path

import pytest
from builders import make_component, make_window

from steelyard.measure.native_memory import code_cache, native_memory
from steelyard.measure.nmt import keeps_account, parse_native_memory
from steelyard.measure.samples import Samples
from steelyard.measure.window import Unknown

JVM = Path(__file__).parents[1] / "fixtures" / "jvm"
SERVER = make_component(name="server-1")


@pytest.mark.parametrize(("release", "beside", "code"), [(17, 90104, 7741), (25, 84367, 8336)])
def test_memory_beside_the_heap_is_the_sum_of_all_other_parts(release: int, beside: int, code: int) -> None:
    account = parse_native_memory((JVM / f"native-memory-{release}.txt").read_text(encoding="utf-8"))
    window = replace(make_window(Samples({}, {}, {}, {})), native_memory={"server-1": account})
    measured = native_memory.read(window, SERVER)
    assert measured == beside * 1024
    assert code_cache.read(window, SERVER) == code * 1024
    others = sum(size for name, size in account.parts.items() if name != "Java Heap")
    assert others == pytest.approx(measured, abs=len(account.parts) * 1024)  # each is rounded


@pytest.mark.parametrize(
    "text", ["", "4711:\nNative memory tracking is not enabled\n", "Total: reserved=1KB"]
)
def test_a_jvm_that_does_not_tell_it_has_no_figure(text: str) -> None:
    window = replace(
        make_window(Samples({}, {}, {}, {})), native_memory={"server-1": parse_native_memory(text)}
    )
    assert isinstance(native_memory.read(window, SERVER), Unknown)
    assert isinstance(code_cache.read(window, SERVER), Unknown)
    assert native_memory.read(make_window(Samples({}, {}, {}, {})), SERVER) is None


def test_who_keeps_account_says_its_options() -> None:
    assert not keeps_account(["-Xmx64m"])
    assert keeps_account(["-XX:NativeMemoryTracking=summary"])
    assert not keeps_account(["-XX:NativeMemoryTracking=detail", "-XX:NativeMemoryTracking=off"])
