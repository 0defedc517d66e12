# SPDX-License-Identifier: Apache-2.0
"""The ways to run Steelyard, walked as the pages type them: how long each line takes, and when a report is there.

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/walks.py FOLDER clone wheel docker compose cluster

Each walk has a home of its own below FOLDER, one shell, a clone of the checkout's commit, and this user's caches of
packages as they are. The lines are read from the pages when they are walked; `walks/doors.yaml` says which, and what
stands in for what is not published. Containers need Debian and root, as their bases are made of packages; the
cluster is the node of `k8s/local`; in the walk `action`, `act` on PATH stands in for GitHub. Prints tables for
docs/lab-notes/. Nothing else should run on the machine. What a walk prints is kept in FOLDER.
"""

import argparse
import os
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self, TextIO

import yaml
from first_report import listen, times_of

from steelyard import __version__
from steelyard.errors import Exit
from steelyard.paths import ROOT

MARK = "--walk--"
_FILE = yaml.safe_load((Path(__file__).parent / "walks" / "doors.yaml").read_text(encoding="utf-8"))
_VALUES = {
    "VERSION": __version__,
    "CHECKOUT": str(ROOT),
    "ENGINE": str(ROOT / "images" / "local" / "setup-engine.sh"),
    "NODE": str(ROOT / "k8s" / "local" / "node.sh"),
}


def _filled(text: str) -> str:
    return re.sub("|".join(_VALUES), lambda match: _VALUES[match[0]], text)


class Door(NamedTuple):
    """A way in, ready to be walked."""

    lines: Sequence[str]
    """As they are typed."""
    files: Mapping[str, str]
    before: str
    after: str = ""

    @classmethod
    def named(cls, name: str) -> Self:
        """Of doors.yaml; ValueError where a page has not that line or block."""
        given = _FILE["doors"][name]
        return cls(
            lines=[typed(start, given["pages"]) for start in given["lines"]],
            files={path: _block(page, text) for path, (page, text) in given.get("files", {}).items()},
            before=_filled(given.get("before", "")),
            after=_filled(given.get("after", "")),
        )


DOORS = tuple(_FILE["doors"])


def typed(start: str, pages: Sequence[str]) -> str:
    """The line of one of the pages that begins so; what begins with + is ours, and a line as it is."""
    if start.startswith("+"):
        return start[1:]
    start = _filled(start)
    lines = (line for page in pages for line in commands(page) if line.startswith(start))
    if (shortest := min(lines, key=len, default=None)) is None:
        raise ValueError(f"none of {', '.join(pages)} types a line that begins with: {start}")
    return shortest


def commands(page: str) -> Iterator[str]:
    """What a page types: lines of its blocks without their remarks, and what stands in `...`."""
    text = re.sub(r" *\\\n *", " ", (ROOT / page).read_text(encoding="utf-8"))
    fenced = re.findall(r"^```\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    for line in [*"".join(fenced).splitlines(), *re.findall(r"^ {4,}(.+)$", text, re.MULTILINE)]:
        yield re.sub(r"\s+# .*", "", line).strip()
    yield from re.findall(r"`([^`\n]+)`", text)


def _block(page: str, part: str) -> str:
    blocks = re.findall(
        r"^ *```yaml\n(.*?)^ *```$", (ROOT / page).read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    for block in blocks:
        if part in block:
            return _here(textwrap.dedent(block))
    raise ValueError(f"{page} has no block of YAML with: {part}")


def _here(text: str) -> str:
    for published, ours in _FILE["here"].items():
        text = text.replace(published, _filled(ours))
    return text


class Step(NamedTuple):
    """A line that was typed."""

    typed: str
    began: float
    """Seconds since the walk began; so are the others."""
    first: float | None
    """First line of its output."""
    ended: float
    code: int


def walk(door: Door, home: Path, log: Path) -> tuple[list[Step], dict[str, float]]:
    """The steps, until one fails; and when the session of one of them came how far (`first_report`), seconds."""
    home.mkdir(parents=True)
    for path, text in door.files.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text, encoding="utf-8")
    environment = surroundings(home)
    with log.open("w", encoding="utf-8") as output:

        def run(commands: str) -> None:
            words = ["bash", "-euxo", "pipefail", "-c", commands]
            subprocess.run(words, cwd=home, env=environment, stdout=output, stderr=output, check=True)

        try:
            run(door.before)
            return _type(door.lines, home, environment, output)
        finally:
            run(door.after)


def _type(
    lines: Sequence[str], home: Path, environment: Mapping[str, str], output: TextIO
) -> tuple[list[Step], dict[str, float]]:
    steps, printed, began = list[Step](), list[tuple[float, str]](), time.monotonic()
    first: float | None = None
    with listen(["bash", "-c", script(lines)], home, environment) as shell:
        for text in shell.stdout or ():
            at, line = time.monotonic() - began, text.rstrip()
            output.write(f"{at:7.1f} {line}\n")
            output.flush()
            if line.startswith(MARK):
                since = steps[-1].ended if steps else 0.0
                steps.append(Step(lines[len(steps)], since, first, at, int(line.removeprefix(MARK))))
                first = None
            elif line.strip():
                first = at if first is None else first
                printed.append((at, line))
    return steps, times_of(printed)


def script(lines: Sequence[str]) -> str:
    """One shell types all lines, and tells how each ended; what comes after a failure is not typed. A session that lost
    trials to a busy machine is none."""
    goes_on = f"[ $code = {Exit.OK:d} ] || [ $code = {Exit.INCOMPLETE:d} ] || exit $code"
    each = [f"{_here(line)}\ncode=$?; echo '{MARK}'$code; {goes_on}" for line in lines]
    return "\n".join(["exec 2>&1", *each])


def bare_environment(home: Path) -> dict[str, str]:
    """Nothing of this checkout and of its user's settings, but for what pip has fetched before."""
    ours = ("PYTHON", "STEELYARD", "XDG_", "VIRTUAL_ENV", "COLUMNS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    path = [part for part in kept["PATH"].split(":") if not Path(part).is_relative_to(ROOT)]
    cache = os.environ.get("PIP_CACHE_DIR") or str(Path.home() / ".cache" / "pip")
    return {**kept, "PATH": ":".join(path), "HOME": str(home), "PIP_CACHE_DIR": cache}


def surroundings(home: Path) -> dict[str, str]:
    """A bare environment with pipx, what that installs, and the programs of a node that were compiled before."""
    cache = home / ".cache" / "steelyard"
    cache.mkdir(parents=True)
    for kubernetes in (Path.home() / ".cache" / "steelyard").glob("kubernetes-*"):
        (cache / kubernetes.name).symlink_to(kubernetes)
    environment = bare_environment(home)
    programs = [str(home / ".local" / "bin"), str(home / "pipx" / "bin"), environment["PATH"]]
    return {**environment, "PATH": ":".join(programs)}


def table(steps: Sequence[Step], session: Mapping[str, float]) -> str:
    """The walk as a table of Markdown, seconds since it began."""
    rows = [
        "| typed | from, s | first output, s | to, s | exit code |",
        "| --- | --- | --- | --- | --- |",
    ]
    for step in steps:
        first = "" if step.first is None else f"{step.first:.1f}"
        line = step.typed if len(step.typed) <= 90 else f"{step.typed[:87]}..."
        rows.append(f"| `{line}` | {step.began:.1f} | {first} | {step.ended:.1f} | {step.code} |")
    rows += [f"| {name} | | | {at:.1f} | |" for name, at in session.items()]
    return "\n".join(rows)


def main() -> None:
    """Walk, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="a new folder for homes and logs")
    parser.add_argument("doors", nargs="+", choices=DOORS)
    given = parser.parse_args()
    folder = given.folder.resolve()
    for name in given.doors:
        load = os.getloadavg()[0]
        steps, session = walk(Door.named(name), folder / name, folder / f"{name}.log")
        sys.stdout.write(f"**{name}**, load before: {load:.1f}\n\n{table(steps, session)}\n\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
