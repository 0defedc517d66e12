# SPDX-License-Identifier: Apache-2.0
"""Gates of the server whose cost is known (`bench/planted`), as many as asked: what do they answer, and in what time?

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/planted_gates.py FOLDER same:20 work-10 -- --margin 16%

A case is a name below, with how many answers FOLDER is to hold; what follows `--` are options of `gate`. With
`--engine compose` among them both sides are images, built first (bases: the variables STEELYARD_BASE_MAVEN and
STEELYARD_BASE_HOTSPOT, as for compose/). With `--workload ping` or another one of ours both sides are the same but for
a system property, and `same` is the only case.

Sessions, the noise certificate of these options (made first) and the answers are kept in FOLDER. A second call goes on:
an interrupted gate or certificate is resumed, what is missing is run. With `--minutes 60` no gate begins that would not
end in time. A gate without a trial or a verdict is no answer; five in a row, a minute apart, end the series with the
reason. Prints every answer of FOLDER and, for each case, shares with exact 95 % intervals (Clopper and Pearson). Run it
on a host that does nothing else. Twenty equal gates and ten of each planted harm, about five hours:

    ... planted_gates.py FOLDER same:20 work-2:10 work-3:10 -- --quick --margin 5%
"""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from statistics import fmean

from session_series import (
    FAILURES,
    PAUSE,
    Launch,
    Row,
    Stopped,
    TimeLeft,
    append_row,
    find_session,
    folder_of,
    go_on,
    launcher,
    move_aside,
    read_rows,
    series_parser,
    split_options,
    why_ended,
)

from steelyard.errors import Exit
from steelyard.measure.chance import exact_interval
from steelyard.results.figures import percent

HERE = Path(__file__).parent / "planted"
PLAIN = {"rounds": 1_000_000, "bytes": 262_144, "delay": 0}
CASES: dict[str, tuple[dict[str, int], str]] = {
    "same": ({"rounds": 1_000_001}, "cpu_per_1k"),
    **{
        f"work-{share}": ({"rounds": 1_000_000 + share * 10_000}, "cpu_per_1k")
        for share in (1, 2, 3, 5, 10, 40)
    },
    "garbage-10": ({"bytes": 288_358}, "allocated_per_1k"),
    "start-300": ({"delay": 300}, "start_time"),
}
"""What the candidate has in place of PLAIN, and the metric that decides. `same` is one step of a million: two sides
that are equal by name are passed without a trial."""
NOT_FOR_CERTIFY = ("--margin", "--metric", "--time")
ANSWERS = "answers.jsonl"
VERDICTS = (Exit.OK, Exit.REGRESSION, Exit.INCONCLUSIVE)


def main() -> None:
    """Run the gates that are missing one after the other, and print all answers."""
    words, options = split_options(sys.argv[1:])
    parser = series_parser(__doc__)
    parser.add_argument("cases", nargs="+", metavar="CASE[:NUMBER]", help=", ".join(CASES))
    given = parser.parse_args(words)
    folder: Path = given.folder
    why = why_ended(lambda: run_gates(folder, given.cases, options, launcher(folder), given.time_left))
    sys.stdout.write(table(read_rows(folder / ANSWERS)))
    sys.exit(why)


def run_gates(
    folder: Path,
    cases: Sequence[str],
    options: Sequence[str],
    start: Launch,
    time_left: TimeLeft,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Run what is missing of some cases.

    Raises:
        Stopped: there is no certificate, several gates in a row said nothing, or time is up.
        KeyboardInterrupt: the series was interrupted; the next call goes on.
    """
    own = folder_of(folder, options)
    common = [*_workload(options), "--certificates", str(own / "certificates")]
    missing = missing_cases(cases, read_rows(folder / ANSWERS, options))
    if missing and not list((own / "certificates").glob("*.json")):
        _certify(own / "certifying", common, options, start)
    failures = 0
    for name in missing:
        answers = read_rows(folder / ANSWERS, options)
        longest = max((row["seconds"] for row in answers), default=0.0)
        time_left.require(longest, f"gate of {longest / 60:.0f} minutes")
        before = {row.get("folder") for row in answers}
        place = next(
            place for number in range(1, 10_000) if (place := f"{own.name}/{name}-{number:02d}") not in before
        )
        row = _run_gate(folder / place, name, common, options, start)
        append_row(folder / ANSWERS, {**row, "case": name, "options": list(options), "folder": place})
        failures = 0 if is_counted(row) else failures + 1
        if failures == FAILURES:
            raise Stopped(f"{failures} gates in a row said nothing: {row['message']}")
        if failures > 0:
            wait(PAUSE)


def _certify(out: Path, common: Sequence[str], options: Sequence[str], start: Launch) -> None:
    """Make the certificate, or go on with it where that was interrupted."""
    baseline, _ = sides_of("same", options)
    equal = [*common, "--baseline", baseline, *_without(options, NOT_FOR_CERTIFY)]
    begun = find_session(out)
    resume = ["resume", str(begun.path)] if begun is not None else []
    ended = go_on(out, start, ["certify", *equal, "--out", str(out)], resume)
    if ended.code != Exit.OK:
        if begun is not None or ended.code == Exit.INCOMPLETE:
            move_aside(out, "failed")  # the next call makes another
        raise Stopped(f"no certificate: {ended.message}")


def _run_gate(out: Path, name: str, common: Sequence[str], options: Sequence[str], start: Launch) -> Row:
    """One gate, from its beginning or from where it was interrupted."""
    began, begun = time.monotonic(), find_session(out)
    if begun is not None:
        ended = start(["resume", str(begun.path), "--json"])
    else:
        baseline, candidate = sides_of(name, options)
        sides = ["--baseline", baseline, "--candidate", candidate, "--metric", CASES[name][1]]
        ended = start(["gate", *common, *sides, *options, "--out", str(out), "--json"])
    answer = ended.document if ended.code in VERDICTS else {}
    # Of one that was resumed the command took less than the gate did.
    seconds = time.monotonic() - began if begun is None else float(answer.get("seconds", 0.0))
    return {
        "code": ended.code,
        "seconds": seconds,
        "answer": answer,
        "message": answer.get("sentence") or ended.message,
    }


def is_counted(row: Row) -> bool:
    """Whether a gate answered by trials: without a certificate that allows the margin, or on a busy host, it has
    none."""
    return bool(row["answer"].get("trials"))


def missing_cases(cases: Sequence[str], answers: Sequence[Row]) -> list[str]:
    """What is to run until there are as many answers of each case as were asked for; in turn, so that all cases see the
    same hours."""
    there = Counter(row["case"] for row in answers if is_counted(row))
    missing = []
    for case in cases:
        name, _, times = case.partition(":")
        if name not in CASES:
            sys.exit(f"{name} is no case: give {', '.join(CASES)}")
        missing.append([name] * max(0, int(times or 1) - there[name]))
    return [name for turn in zip_longest(*missing) for name in turn if name is not None]


def _workload(options: Sequence[str]) -> list[str]:
    return [] if "--workload" in options else ["--workload", str(HERE / "workload.yaml")]


def sides_of(name: str, options: Sequence[str]) -> tuple[str, str]:
    """Baseline and candidate of a case."""
    if "--workload" not in options:
        return images(name, options) or settings(name)
    if name != "same":
        sys.exit(f"{name} is planted in a server of its own: without --workload")
    return "jvm_args=-Dsteelyard.side=a", "jvm_args=-Dsteelyard.side=b"


def _without(options: Sequence[str], names: Sequence[str]) -> list[str]:
    dropped = {index + offset for index, word in enumerate(options) if word in names for offset in (0, 1)}
    return [word for index, word in enumerate(options) if index not in dropped]


def settings(name: str) -> tuple[str, str]:
    """Both sides as settings of one workload."""
    changed = CASES[name][0]
    return _settings({key: PLAIN[key] for key in changed}), _settings(changed)


def _settings(values: Mapping[str, int]) -> str:
    return ",".join(f"planted.{key}={value}" for key, value in values.items())


def images(name: str, options: Sequence[str]) -> tuple[str, str] | None:
    """Both sides as images, where the engine is one of containers."""
    if "compose" not in options:
        return None
    return _image("plain", PLAIN), _image(name, PLAIN | CASES[name][0])


def _image(name: str, values: Mapping[str, int]) -> str:
    bases = {
        key: os.environ[f"STEELYARD_{key}"]
        for key in ("BASE_MAVEN", "BASE_HOTSPOT")
        if f"STEELYARD_{key}" in os.environ
    }
    arguments = {key.upper(): str(value) for key, value in values.items()} | bases
    words = [word for key, value in arguments.items() for word in ("--build-arg", f"{key}={value}")]
    tag = f"localhost/planted:{name}"
    where = ["--tag", tag, "--file", str(HERE / "Containerfile"), str(HERE)]
    subprocess.run(["docker", "build", "--quiet", *words, *where], check=True, stdout=subprocess.DEVNULL)
    return f"image={tag}"


def table(answers: Sequence[Row]) -> str:
    """Every answer, and the share of each kind with its exact 95 % interval."""
    lines = [
        "| case | options | answer | what could be said | void | time |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    counts: dict[tuple[str, str], Counter[str]] = {}
    minutes: dict[tuple[str, str], list[float]] = {}
    for row in answers:
        answer, key = row["answer"], (row["case"], " ".join(row["options"]))
        outcome = answer.get("outcome", f"none (exit code {row['code']})")
        void = f"{answer['void']} of {answer['trials']}" if answer else ""
        said = answer.get("sentence") or row.get("message", "")
        lines.append(f"| {' | '.join((*key, outcome, said, void))} | {row['seconds'] / 60:.1f} min |")
        if is_counted(row):
            counts.setdefault(key, Counter())[outcome] += 1
            minutes.setdefault(key, []).append(row["seconds"] / 60)
    lines += [
        "",
        "| case | options | gates | answer | share | 95 % interval | minutes of a gate |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for (case, options), outcomes in counts.items():
        gates, mean = outcomes.total(), fmean(minutes[case, options])
        for outcome, number in sorted(outcomes.items()):
            low, high = exact_interval(number, gates)
            bounds = f"{percent(low)} to {percent(high)}"
            shares = (case, options, f"{gates}", f"{outcome}: {number}", percent(number / gates), bounds)
            lines.append(f"| {' | '.join(shares)} | {mean:.1f} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
