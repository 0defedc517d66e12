# SPDX-License-Identifier: Apache-2.0
"""Experiment and workload files that nobody would write, and what Steelyard has to do with them.

Hypothesis takes a real file through a few changes, of its text or of what it says; the file is then planned as `plan`
does, in this process; only what asks the host for JVMs, builds and images is replaced. It is accepted, or refused by
one short plain sentence, within a bound of CPU time.
"""

import contextlib
import copy
import io
import itertools
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from inspect import unwrap
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import yaml
from builders import make_jvm
from hypothesis import strategies as st
from planned import containers, processes

from steelyard.cli import plan
from steelyard.errors import BadInput, SteelyardError
from steelyard.experiment.loader import experiment_files, load_experiment
from steelyard.experiment.schema import DeploymentSettings
from steelyard.paths import EXPERIMENTS, ROOT
from steelyard.session.plan import RunRequest, host_checks, metric_checks
from steelyard.session.runtimes import RuntimeResolver
from steelyard.spec.layout import Runtime
from steelyard.workload.loader import APPS, load_workload

CPU_LIMIT = 20.0
"""Seconds of this process's own CPU time for one file; none should need one."""
LONGEST = 300
"""Characters of a sentence."""
BASES = {
    "experiment": list(experiment_files(EXPERIMENTS).values()),
    "workload": sorted(
        [*APPS.glob("*/workload.yaml"), *ROOT.glob("docs/examples/*/workload.yaml")],
        key=lambda path: path.stat().st_size,
    ),
}
"""Real files by kind; Hypothesis likes the first ones best, which take the least time."""
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_NUMBERS = itertools.count()

# fmt: off
ODD_TEXTS = [
    "null", "~", "true", "yes", "0", "-1", "1", "1.0", "1.5", "1_000", "-0", "1e400", "1.0e+999", ".inf", ".nan",
    "9" * 30, "9" * 5000, f"0x{'f' * 5000}", f"1{':59' * 1000}", "1:30", "0o17", "99999g", "1b", "0", "0s", "1ms",
    "999h", "9999999h", "101%", "-5%", "2024-13-45", "2024-12-05", "12:30:00", "=", "<<", "!!bool maybe", "!!int x",
    "!!int ''", "!!float ''", "!!timestamp x", "!!binary x", "!!set {a}", "!x y", "!!python/name:os.system",
    "!!python/object/apply:os.getcwd []", "!!omap [a: b]", "!!pairs [a: b]", "*nobody", "&a [*a]", "&a {b: *a}",
    "{}", "[]", "[[]]", "{a: {b: {c: d}}}", "[1, true]", "[1, 1.0]", "'[/x]'", '"[red]"', "'[/]'", '"\\e[31m"',
    '"\\ud800"', '"\\0"', '"a\\nb"', '"\\u202e"', "'\u202e'", "''", '"', "'", "[", "]", "{", "}", ":", "- -",
    "? a", "%", "@", "`", "|", ">", "# x", "&", "*", "!", "---", "...", "${port}", "${nothing}", "${",
    "${database.port}", "../../x", "/dev/zero", "/proc/self/mem", "\x07", "\ufeff", "x" * 300, "x" * 5_000,
    "[" * 500, "{a: " * 500, "é" * 200, "\U0001f600", " ", "\t", f"[{', '.join(map(str, range(1000)))}]",
    "[&b [1, 1, 1, 1, 1, 1, 1, 1, 1], &c [*b, *b, *b, *b, *b, *b, *b], &d [*c, *c, *c, *c, *c, *c], [*d, *d]]",
]
# fmt: on
# fmt: off
ODD_VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2, 3, 7, 256, 257, 1000, 10**30, 0.0, -1.5, 1e-300, 1e308, "", " ", "x", "x" * 300,
    "[/x]", "${port}", "${nothing}", "1ms", "999h", "0", "99999g", "1m", "2g", "0%", "1.5", "steady", "\u202e", "../x",
    "a b", "é", [], {}, [[]], {"a": {}}, [1, True], [1, 1.0], [1, 1], [None], ["x", 1, []], list(range(30)),
    list(range(1000)), {"a": {"jvms": 1}, "b": {"jvms": 1}}, {str(n): {} for n in range(500)}, "compose", "process",
    "open", "closed", "foreground", "warm", "large", "remote", "start-up", "survive", {"until": "fixed"},
    {"think": 1, "cycle": 1}, {"a": 50, "b": 50}, {"levels": [1, 2]}, {"p99": 0},
]
# fmt: on
TEXTS = st.sampled_from(ODD_TEXTS) | st.text(max_size=20)
VALUES = st.sampled_from(ODD_VALUES) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=3)
    ),
    max_leaves=6,
)


@dataclass(frozen=True)
class HostileFile:
    """A file, and how it is planned."""

    kind: str
    """`experiment` or `workload`."""
    base: str
    """The real file that it was."""
    text: bytes
    beside: str
    """The experiment that a workload file is planned with."""
    quick: bool
    as_json: bool


@st.composite
def hostile_files(draw: st.DrawFn) -> HostileFile:
    """A real file after one to four changes."""
    kind = draw(st.sampled_from(sorted(BASES)))
    base = draw(st.sampled_from(BASES[kind]))
    text, data = _known(base)
    change = draw(st.sampled_from((_changed_data, _changed_lines)))
    return HostileFile(
        kind,
        str(base.relative_to(ROOT)),
        change(draw, text, data),
        beside=draw(st.sampled_from(("jvm-count", "start-up", "capacity"))),
        quick=draw(st.booleans()),
        as_json=draw(st.integers(0, 9)) == 7,
    )


@cache
def _known(path: Path) -> tuple[str, Any]:
    text = path.read_text(encoding="utf-8")
    return text, yaml.safe_load(text)


def _changed_data(draw: st.DrawFn, _text: str, data: Any) -> bytes:
    data = copy.deepcopy(data)
    for _ in range(draw(st.integers(1, 4))):
        data = _changed_value(draw, data)
    written: str = yaml.dump(data, Dumper=_Dumper, allow_unicode=True, sort_keys=False)
    return written.encode("utf-8", "surrogatepass")


def _places(data: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*at, key)
        yield from _places(value, (*at, key))


def _inside(data: Any, way: tuple[Any, ...]) -> Any:
    for key in way:
        data = data[key]
    return data


def _changed_value(draw: st.DrawFn, data: Any) -> Any:
    """One value replaced, left out, moved, or given another name."""
    places = list(_places(data))
    if not places:
        return copy.deepcopy(draw(VALUES))
    *way, last = draw(st.sampled_from(places))
    inside = _inside(data, tuple(way))
    kind = draw(st.sampled_from(("replace", "replace", "replace", "remove", "rename", "move")))
    if kind == "remove":
        del inside[last]
    elif kind == "rename" and isinstance(inside, dict):
        names = [f"{last}s", "x", 1, "[/x]", *(other[-1] for other in places)]
        inside[draw(st.sampled_from(names))] = inside[last]
    elif kind == "move":
        inside[last] = copy.deepcopy(_inside(data, draw(st.sampled_from(places))))
    else:
        inside[last] = copy.deepcopy(draw(VALUES))
    return data


def _changed_lines(draw: st.DrawFn, text: str, _data: Any) -> bytes:
    lines = text.splitlines()
    for _ in range(draw(st.integers(1, 4))):
        draw(st.sampled_from(_LINE_CHANGES))(draw, lines)
    raw = "\n".join(lines).encode("utf-8", "surrogatepass")
    if draw(st.integers(0, 9)) == 7:
        at = draw(st.integers(0, len(raw)))
        raw = raw[:at] + draw(st.just(b"") | st.binary(max_size=8).map(lambda some: some + raw[at:]))
    return raw


def _line(draw: st.DrawFn, lines: list[str]) -> int:
    return draw(st.integers(0, len(lines) - 1))


def _new_scalar(draw: st.DrawFn, lines: list[str]) -> None:
    at = _line(draw, lines)
    head, colon, _ = lines[at].partition(": ")
    lines[at] = head + (colon or ": ") + draw(TEXTS)


def _new_key(draw: st.DrawFn, lines: list[str]) -> None:
    at = _line(draw, lines)
    line = lines[at]
    _, colon, value = line.partition(":")
    indent = line[: len(line) - len(line.lstrip())]
    lines[at] = indent + draw(TEXTS) + (colon or ":") + value


def _new_word(draw: st.DrawFn, lines: list[str]) -> None:
    at = _line(draw, lines)
    words = lines[at].split(" ")
    words[draw(st.integers(0, len(words) - 1))] = draw(TEXTS)
    lines[at] = " ".join(words)


def _insert(draw: st.DrawFn, lines: list[str]) -> None:
    lines.insert(_line(draw, lines), " " * draw(st.integers(0, 6)) + draw(TEXTS))


def _remove(draw: st.DrawFn, lines: list[str]) -> None:
    if len(lines) > 1:
        del lines[_line(draw, lines)]


def _repeat(draw: st.DrawFn, lines: list[str]) -> None:
    lines.insert(_line(draw, lines), lines[_line(draw, lines)])


def _indent(draw: st.DrawFn, lines: list[str]) -> None:
    at = _line(draw, lines)
    line = lines[at]
    lines[at] = draw(st.sampled_from((" " + line, line.lstrip(), "\t" + line, "- " + line)))


_LINE_CHANGES: tuple[Callable[[st.DrawFn, list[str]], None], ...] = (
    *(_new_scalar,) * 4,
    *(_new_key, _new_word, _new_word, _insert, _remove, _repeat, _indent),
)


class KnownResolver(RuntimeResolver):
    """A resolver that asks nobody."""

    def runtime(self, deployment: DeploymentSettings, *_settings: object) -> Runtime:
        """A JVM and images that there could be."""
        if deployment.engine == "process":
            return processes()
        _, topology = self.workload.workload.topology(deployment.topology)
        return containers(*topology.components, "jitserver", jvm=make_jvm("openj9"))


class TooMuchWorkError(Exception):
    """One file took too much CPU time."""


@contextlib.contextmanager
def bounded(seconds: float = CPU_LIMIT) -> Iterator[None]:
    """Ends what takes more CPU time than that, and says where it was."""

    def over(_number: int, _frame: FrameType | None) -> None:
        raise TooMuchWorkError

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def calls(function: Callable[[], object], most: int = 20_000_000) -> int:
    """The work of a function, in calls of functions: the same on every machine, however busy (BadInput is an answer).

    Raises:
        TooMuchWorkError: it is more than `most`.
    """
    count = 0

    def note(_frame: FrameType, event: str, _of: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")
        if count > most:
            raise TooMuchWorkError

    sys.setprofile(note)
    try:
        with contextlib.suppress(BadInput):
            function()
    finally:
        sys.setprofile(None)
    return count


def planned_or_refused(file: HostileFile, folder: Path) -> str:
    """What Steelyard says of a file: nothing where it is accepted and planned, else the sentence.

    Raises:
        AssertionError: the sentence is not one short plain line that names the file.
        Exception: whatever else escaped.
    """
    number = next(_NUMBERS)  # what was read is kept by path
    if number % 100 == 0:
        load_workload.cache_clear()
    place = folder / "file"
    if not place.exists():
        place.mkdir()
        (folder / "databases").symlink_to(
            ROOT / "apps" / "databases"
        )  # what applications choose from, beside them
    path = place / f"{file.kind}-{number}.yaml"
    path.write_bytes(file.text)
    try:
        with bounded():
            if file.kind == "experiment":
                load_experiment(path, host_checks(), metrics=metric_checks())
            else:
                load_workload(str(path))
    except SteelyardError as error:
        said = str(error)
        assert path.name in said, said
        return _plain(said)
    asked, workload = (str(path), None) if file.kind == "experiment" else (file.beside, str(path))
    try:
        with (
            bounded(),
            mock.patch("steelyard.session.plan.RuntimeResolver", KnownResolver),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            make_request = partial(RunRequest, quick=file.quick, workload=workload)
            unwrap(plan.plan)(asked, make_request=make_request, as_json=file.as_json)
    except SteelyardError as error:
        return _plain(str(error))
    finally:
        path.unlink()
    return ""


def _plain(said: str) -> str:
    assert said
    assert said.isprintable(), repr(said)
    assert len(said) <= LONGEST, f"{len(said)} characters: {said}"
    return said


# fmt: off
ODD_WORDS = [
    "", " ", "-", "--", "--help", "--version", "-x", "--blcks", "0", "1", "-1", "6", "1001", "9" * 30, "9" * 5000,
    "1e3", "jvm-count", "start-up", "capacity", "ping", "acmeair", "nothing", "n" * 300, "n" * 300 + ".yaml", "[/x]",
    "\x1b[31m", "a\nb", "\u202e", "\udcff", "é", ",", "=", "process,", "process,compose", "/dev/zero", "/dev/null",
    "/proc/version", "/proc/no", "/proc/self/mem", ".", "~", "65536", "40000",
]
# fmt: on
# fmt: off
ODD_SETTINGS = [
    "jvms=[", "jvms=null", "gc=2024-13-45", "jvms==", "jvms", "=", "==", "", "jvms=", "jvms=1,", "jvms=,", "=1",
    "jvms={a: 1}", "jvms=[1, 2]", "jvms=1,1", "jvms=1,true", "jvms=1,1.0", "jvms=0", "jvms=257", "jvm=1,2", "jvm={}",
    "jvms=2,1", "users=24", "heap=64m,128m", "users=.nan,.inf", "users=1e400", "rate=.inf", "heap=1,2", "heap=99999g",
    "nursery=1,2", "measure=0,1ms", "measure=9999h", "warmup={}", "mix={a: 1}", "mix=1", "jvm_args=[a, b]",
    "jvm_args=a,b", "thp=never,always", "thp=[", "huge_pages=-1,1.5", "huge_pages=" + "9" * 30, "a.b=c", ".=.",
    "acmeair.customers=1,2", "gc=!!bool x", "jit=remote", "jdk=" + "x" * 500, "jdk=\x1b", "topology=none,x",
    "engine=podman", "engine=compose,process", f"users={','.join(map(str, range(1, 200)))}", f"users={'9' * 5000}",
    f"gc={'[' * 3000}", "x" * 5000, "[/x]=1,2",
]
# fmt: on
_COMMANDS = (*("plan",) * 5, *("run",) * 3, "up", "report", "analyze", "resume", "list", "schema", "x")
_OPTIONS = {
    "plan": ("--quick", "--json", "--blocks", "--seed", "--engine", "--workload", "--set", "--set"),
    "run": ("--quick", "--seed", "--out", "--out", "--set", "--set", "--port", "--jdk"),
    "up": ("--jvms", "--port", "--engine", "--topology", "--heap", "--set", "--jdk", "--json"),
    "list": ("--out", "--metrics", "--json"),
}


PLACES = ["file", "empty", "list", "half", "wrong", "session", "pipe.yaml", "new", "file/x"]
"""Of the folder that a command line is about (`test_hostile.py`); `new` is not there."""
HERE = "HERE"
"""Stands for that folder."""


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """The words of a command that nobody would type."""
    known = st.sampled_from([*ODD_WORDS, *(f"{HERE}/{place}" for place in PLACES)])
    odd = st.one_of(known, known, known, st.text(max_size=10))
    command = draw(st.sampled_from(_COMMANDS))
    words = [command]
    if command not in ("list", "schema") and draw(st.integers(0, 9)) != 7:
        named = {"plan": "jvm-count", "run": "jvm-count", "up": "ping"}.get(command, f"{HERE}/session")
        words.append(draw(st.sampled_from((named, named, None))) or draw(odd))
    options = st.lists(st.sampled_from(_OPTIONS.get(command, ("--json",))), max_size=3)
    for option in draw(options):
        words.append(option)
        if option == "--set":
            words.append(draw(st.sampled_from(ODD_SETTINGS) | st.text(max_size=10)))
        elif option not in ("--quick", "--json", "--metrics") or draw(st.integers(0, 19)) == 7:
            words.append(draw(odd))
    if draw(st.integers(0, 19)) == 7:
        words.insert(draw(st.integers(0, len(words))), draw(odd))
    return words
