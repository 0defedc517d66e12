# SPDX-License-Identifier: Apache-2.0
"""The JIT's log of HotSpot 17 and 25, recorded while each compiled a small program (`fixtures/jit`), and OpenJ9's."""

from dataclasses import replace
from pathlib import Path

import pytest
from builders import make_component, make_window

from steelyard.measure.compile_log import CompileLog, of_openj9, parse_hotspot
from steelyard.measure.jit import compiled_methods
from steelyard.measure.jit_log import read_jit_logs
from steelyard.measure.jvm import code_given_up, compiled_optimized, compiled_quickly
from steelyard.measure.samples import Samples
from steelyard.measure.window import Unknown, Window

JIT = Path(__file__).parents[1] / "fixtures" / "jit"
SERVER = make_component(name="server-1")
LINE = "[2026-11-26T09:50:24.615+0000][2.120s][debug][jit,compilation] "


def lines_of(name: str) -> list[str]:
    return (JIT / name).read_text(encoding="utf-8").splitlines(keepends=True)


def window_of(log: CompileLog, start: float = 0.0, end: float = 60.0) -> Window:
    return replace(make_window(Samples({}, {}, {}, {}), start, end), compile_logs={"server-1": log})


@pytest.mark.parametrize(
    ("name", "quick", "optimized", "given_up"),
    [("hotspot17-compilations.txt", 10, 10, 6), ("hotspot25-compilations.txt", 12, 9, 6)],
)
def test_compilations_are_told_by_level_and_optimized_code_that_was_given_up(
    name: str, quick: int, optimized: int, given_up: int
) -> None:
    log = parse_hotspot(lines_of(name))
    assert log.unknown is None
    window = window_of(log, log.compiled[0][0], log.compiled[0][0] + 60)
    assert compiled_quickly.read(window, SERVER) == quick
    assert compiled_optimized.read(window, SERVER) == optimized == log.levels["level 4"]
    assert code_given_up.read(window, SERVER) == given_up
    assert compiled_methods(window, SERVER) == log.levels
    second = window_of(log, log.compiled[0][0], log.compiled[0][0] + 1)
    inside = compiled_optimized.read(second, SERVER)
    assert isinstance(inside, int)
    assert 0 < inside < optimized
    assert code_given_up.read(second, SERVER) == 0


def test_code_of_a_lower_level_that_is_replaced_is_not_given_up() -> None:
    """From JDK 25 on the log says why; what is level 4 and not used any more has been compiled again."""
    replaced = f"{LINE}   7       4       a.B::c (1 bytes)   made not entrant: not used\n"
    trapped = f"{LINE}   8       4       a.B::c (1 bytes)   made not entrant: uncommon trap\n"
    compiled = f"{LINE}   7       4       a.B::c (1 bytes)\n"
    assert len(parse_hotspot([compiled, replaced, trapped, trapped]).given_up) == 1


def test_code_of_an_unloaded_class_which_has_no_name_any_more_is_passed_over() -> None:
    """JDK 17 gives it up because the class is gone, and not because the compiler assumed wrongly."""
    compiled = f"{LINE}   9       4       a.B::c (1 bytes)\n"
    nameless = [f"{LINE}   9       4       (method)   made {what}\n" for what in ("not entrant", "zombie")]
    log = parse_hotspot([compiled, *nameless, f"{LINE}  10 %     4       (method)   made zombie\n"])
    assert log.unknown is None
    assert log.levels == {"level 4": 1}
    assert log.given_up == ()


def test_without_levels_the_optimizing_compiler_compiles_alone() -> None:
    log = parse_hotspot([f"{LINE}   3             java.lang.module.ModuleReference::descriptor (5 bytes)\n"])
    assert log.levels == {"level 4": 1}


def test_a_line_that_cannot_be_read_leaves_nothing_known_and_a_cut_one_is_passed_over() -> None:
    compiled = f"{LINE}   7       4       a.B::c (1 bytes)\n"
    assert parse_hotspot([compiled, f"{LINE}   8       4       a.B::"]).levels == {"level 4": 1}
    unread = parse_hotspot([compiled, f"{LINE}   8   tier 4    a.B::c (1 bytes)\n"])
    figure = compiled_quickly.read(window_of(unread), SERVER)
    assert isinstance(figure, Unknown)
    assert figure.reason.startswith("a line of the JIT's log cannot be read: [2026")
    assert isinstance(code_given_up.read(window_of(parse_hotspot([])), SERVER), Unknown)
    assert compiled_quickly.read(make_window(Samples({}, {}, {}, {})), SERVER) is None


def test_openj9_tells_levels_and_no_times() -> None:
    log = of_openj9(read_jit_logs([JIT / "client-alone-21.txt"]))
    assert log.levels == {"cold": 34, "warm": 4}
    assert compiled_methods(window_of(log), SERVER) == {"cold": 34, "warm": 4}
    figure = compiled_optimized.read(window_of(log), SERVER)
    assert isinstance(figure, Unknown)
    assert figure.reason == "OpenJ9's log of its JIT has no times"
