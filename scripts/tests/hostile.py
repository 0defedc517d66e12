# SPDX-License-Identifier: Apache-2.0
"""Experiment and workload files that nobody would write, and what Steelyard has to do with them.

A real file goes through a few random changes, of its text or of what it says, and is then planned as `plan` does, in
this process; only what asks the host for JVMs, builds and images is replaced. It is accepted, or refused by one short
plain sentence, within a bound of CPU time.
"""

import contextlib
import copy
import io
import random
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import yaml

from steelyard.cli import inspect
from steelyard.errors import BadInput, SteelyardError
from steelyard.experiment.loader import experiment_files, load_experiment
from steelyard.experiment.schema import Deployment
from steelyard.paths import EXPERIMENTS, ROOT
from steelyard.session.plan import host_checks, metric_checks
from steelyard.session.runtimes import Runtimes
from steelyard.spec.layout import Runtime
from steelyard.workload.loader import APPS, load_workload
from tests.builders import make_jvm
from tests.planned import containers, processes

CPU_LIMIT = 20.0
"""Seconds of this process's own CPU time for one file; none should need one."""
LONGEST = 300
"""Characters of a sentence."""
WORKLOADS = [*APPS.glob("*/workload.yaml"), *ROOT.glob("docs/examples/*/workload.yaml")]
WORKLOADS.sort(key=lambda path: path.stat().st_size)
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

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


@cache
def _known(path: Path) -> tuple[str, Any]:
    text = path.read_text(encoding="utf-8")
    return text, yaml.safe_load(text)


def mutated(base: Path, draw: random.Random) -> bytes:
    """The text of a real file after one to four random changes."""
    text, data = _known(base)
    changes = draw.choice((1, 1, 1, 2, 2, 3, 4))
    if draw.random() < 0.5:
        data = copy.deepcopy(data)
        for _ in range(changes):
            data = _changed_value(data, draw)
        written = yaml.dump(data, Dumper=_Dumper, allow_unicode=True, sort_keys=False)
        return written.encode("utf-8", "surrogatepass")
    lines = text.splitlines()
    for _ in range(changes):
        draw.choice(_LINE_CHANGES)(lines, draw)
    raw = "\n".join(lines).encode("utf-8", "surrogatepass")
    if draw.random() < 0.1:
        at = draw.randrange(len(raw) + 1)
        raw = draw.choice((raw[:at], raw[:at] + draw.randbytes(draw.randrange(1, 9)) + raw[at:]))
    return raw


def _places(data: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*at, key)
        yield from _places(value, (*at, key))


def _changed_value(data: Any, draw: random.Random) -> Any:
    """One value replaced, left out, moved, or given another name."""
    places = list(_places(data))
    if not places:
        return copy.deepcopy(draw.choice(ODD_VALUES))
    *way, last = draw.choice(places)
    inside = data
    for key in way:
        inside = inside[key]
    kind = draw.randrange(10)
    if kind == 0:
        del inside[last]
    elif kind == 1 and isinstance(inside, dict):
        inside[draw.choice([str(last) + "s", "x", 1, "[/x]", *(place[-1] for place in places)])] = inside[
            last
        ]
    elif kind == 2:
        *other, name = draw.choice(places)
        found = data
        for key in other:
            found = found[key]
        inside[last] = copy.deepcopy(found[name])
    else:
        inside[last] = copy.deepcopy(draw.choice(ODD_VALUES))
    return data


def _new_scalar(lines: list[str], draw: random.Random) -> None:
    at = draw.randrange(len(lines))
    head, colon, _ = lines[at].partition(": ")
    lines[at] = head + (colon or ": ") + draw.choice(ODD_TEXTS)


def _new_key(lines: list[str], draw: random.Random) -> None:
    at = draw.randrange(len(lines))
    line = lines[at]
    _, colon, value = line.partition(":")
    indent = line[: len(line) - len(line.lstrip())]
    lines[at] = indent + draw.choice(ODD_TEXTS) + (colon or ":") + value


def _new_word(lines: list[str], draw: random.Random) -> None:
    at = draw.randrange(len(lines))
    words = lines[at].split(" ")
    words[draw.randrange(len(words))] = draw.choice(ODD_TEXTS)
    lines[at] = " ".join(words)


def _insert(lines: list[str], draw: random.Random) -> None:
    lines.insert(draw.randrange(len(lines) + 1), " " * draw.randrange(7) + draw.choice(ODD_TEXTS))


def _remove(lines: list[str], draw: random.Random) -> None:
    if len(lines) > 1:
        del lines[draw.randrange(len(lines))]


def _repeat(lines: list[str], draw: random.Random) -> None:
    lines.insert(draw.randrange(len(lines) + 1), draw.choice(lines))


def _indent(lines: list[str], draw: random.Random) -> None:
    at = draw.randrange(len(lines))
    lines[at] = draw.choice((" " + lines[at], lines[at].lstrip(), "\t" + lines[at], "- " + lines[at]))


_LINE_CHANGES: Sequence[Callable[[list[str], random.Random], None]] = (
    *(_new_scalar,) * 4,
    *(_new_key, _new_word, _new_word, _insert, _remove, _repeat, _indent),
)


class KnownRuntimes(Runtimes):
    """Runtimes that ask nobody."""

    def runtime(self, deployment: Deployment) -> Runtime:
        """A JVM and images that there could be."""
        if deployment.engine == "process":
            return processes()
        _, topology = self.found.workload.topology(deployment.topology)
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


def planned_or_refused(path: Path, *, experiment: bool, draw: random.Random) -> str:
    """What Steelyard says of a file: nothing where it is accepted and planned, else the sentence.

    Raises:
        AssertionError: the sentence is not one short plain line that names the file.
        Exception: whatever else escaped.
    """
    if draw.random() < 0.01:
        load_workload.cache_clear()  # it keeps every one of these files
    try:
        with bounded():
            if experiment:
                load_experiment(path, host_checks(), metrics=metric_checks())
            else:
                load_workload(str(path))
    except SteelyardError as error:
        told = str(error)
        assert path.name in told, told
        return _plain(told)
    asked = (
        (str(path), None) if experiment else (draw.choice(["jvm-count", "start-up", "capacity"]), str(path))
    )
    quick = draw.random() < 0.5
    try:
        with (
            bounded(),
            mock.patch("steelyard.session.plan.Runtimes", KnownRuntimes),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            inspect.plan(asked[0], quick=quick, workload=asked[1], as_json=draw.random() < 0.1)
    except SteelyardError as error:
        return _plain(str(error))
    return ""


def _plain(told: str) -> str:
    assert told
    assert told.isprintable(), repr(told)
    assert len(told) <= LONGEST, f"{len(told)} characters: {told}"
    return told


def one(folder: Path, seed: int) -> tuple[Path, bytes, str]:
    """Draw a file by its seed and show it to Steelyard: the file that it was, its text, the answer."""
    draw = random.Random(seed)
    experiment = draw.random() < 0.6
    if experiment:
        base = draw.choice(sorted(experiment_files(EXPERIMENTS).values()))
    else:  # more of the small ones, which take less time
        base = WORKLOADS[min(draw.randrange(len(WORKLOADS) * 2), draw.randrange(len(WORKLOADS)))]
    path = folder / f"{'experiment' if experiment else 'workload'}-{seed}.yaml"
    text = mutated(base, draw)
    path.write_bytes(text)
    try:
        return base, text, planned_or_refused(path, experiment=experiment, draw=draw)
    finally:
        path.unlink()


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


def command_line(draw: random.Random, folder: Path) -> list[str]:
    """The words of a command that nobody would type; `folder` holds `file` and an odd session or two."""
    odd = [
        *ODD_WORDS,
        *(str(path) for path in folder.iterdir()),
        str(folder / "new"),
        str(folder / "file" / "x"),
    ]
    command = draw.choice(_COMMANDS)
    words = [command]
    if draw.random() < 0.9 and command not in ("list", "schema"):
        named = {"plan": "jvm-count", "run": "jvm-count", "up": "ping"}.get(command, str(folder / "session"))
        words.append(draw.choice((named, named, draw.choice(odd))))
    for option in draw.choices(_OPTIONS.get(command, ("--json",)), k=draw.randrange(4)):
        words.append(option)
        if option == "--set":
            words.append(draw.choice(ODD_SETTINGS))
        elif option not in ("--quick", "--json", "--metrics") or draw.random() < 0.05:
            words.append(draw.choice(odd))
    if draw.random() < 0.05:
        words.insert(draw.randrange(len(words) + 1), draw.choice(odd))
    return words
