# SPDX-License-Identifier: Apache-2.0
"""Gates of the server whose cost is known (`bench/planted`), as many as asked: what do they answer, and in what time?

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/planted_gates.py FOLDER same:20 work-10 -- --margin 16%

A case is a name below, with how many answers FOLDER is to hold; what follows `--` are options of `gate`. With
`--engine compose` among them both sides are images, built first (bases: the variables STEELYARD_BASE_MAVEN and
STEELYARD_BASE_HOTSPOT, as for compose/). With `--workload ping` or another one of ours both sides are the same but for
a system property, and `same` is the only case.

Sessions, the noise certificate (made first, where FOLDER has none) and the answers are kept in FOLDER: a second call
runs what is missing, and takes a gate that was interrupted from its beginning. Prints every answer of FOLDER and, for
each case, shares with exact 95 % intervals (Clopper and Pearson). Run it on a host that does nothing else. Twenty equal
gates and ten of each planted harm, about five hours:

    ... planted_gates.py FOLDER same:20 work-2:10 work-3:10 -- --quick --margin 5%
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from steelyard.measure.chance import exact_interval
from steelyard.paths import ROOT
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
INTERRUPTED = 130


def main() -> None:
    """Run the gates that are missing one after the other, and print all answers."""
    folder, *words = sys.argv[1:]
    cases, options = words, list[str]()
    if "--" in words:
        cases, options = words[: words.index("--")], words[words.index("--") + 1 :]
    kept = Path(folder).resolve()
    kept.mkdir(parents=True, exist_ok=True)
    missing = missing_cases(cases, options, read_answers(kept))
    certificates = kept / "certificates"
    own = "--workload" not in options
    common = [
        *(("--workload", str(HERE / "workload.yaml")) if own else ()),
        "--out",
        str(kept),
        "--certificates",
        str(certificates),
    ]
    if not list(certificates.glob("*.json")):
        baseline, _ = sides_of("same", options)
        equal = [*common, "--baseline", baseline, *_without(options, NOT_FOR_CERTIFY)]
        subprocess.run([ROOT / "steelyard", "certify", *equal], check=True)
    for name in missing:
        baseline, candidate = sides_of(name, options)
        began = time.monotonic()
        sides = ["--baseline", baseline, "--candidate", candidate, "--metric", CASES[name][1]]
        done = subprocess.run(
            [ROOT / "steelyard", "gate", *common, *sides, *options, "--json"],
            stdout=subprocess.PIPE,
            check=False,
        )
        if done.returncode in (INTERRUPTED, -2):
            sys.exit(INTERRUPTED)
        answer = json.loads(done.stdout) if done.stdout.strip() else {}
        told = {
            "case": name,
            "options": options,
            "code": done.returncode,
            "seconds": time.monotonic() - began,
        }
        with (kept / ANSWERS).open("a", encoding="utf-8") as file:
            file.write(json.dumps({**told, "answer": answer}) + "\n")
    sys.stdout.write(table(read_answers(kept)))


def read_answers(kept: Path) -> list[dict[str, Any]]:
    """All answers of a folder, oldest first."""
    path = kept / ANSWERS
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def missing_cases(
    cases: Sequence[str], options: Sequence[str], answers: Sequence[Mapping[str, Any]]
) -> list[str]:
    """What is to run until there are as many verdicts of each case, with these options, as were asked for.

    A gate that failed before a verdict does not count.
    """
    there = Counter(one["case"] for one in answers if one["options"] == list(options) and one["answer"])
    missing = []
    for case in cases:
        name, _, times = case.partition(":")
        if name not in CASES:
            sys.exit(f"{name} is no case: give {', '.join(CASES)}")
        missing += [name] * max(0, int(times or 1) - there[name])
    return missing


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


def table(answers: Sequence[Mapping[str, Any]]) -> str:
    """Every answer, and the share of each kind with its exact 95 % interval."""
    lines = [
        "| case | options | answer | what could be said | void | time |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    counts: dict[tuple[str, str], Counter[str]] = {}
    minutes: dict[tuple[str, str], list[float]] = {}
    for one in answers:
        answer = one["answer"]
        outcome = answer.get("outcome", f"none (exit code {one['code']})")
        void = f"{answer['void']} of {answer['trials']}" if answer else ""
        key = (one["case"], " ".join(one["options"]))
        cells = (*key, outcome, answer.get("sentence", ""), void)
        lines.append(f"| {' | '.join(cells)} | {one['seconds'] / 60:.1f} min |")
        counts.setdefault(key, Counter())[outcome] += 1
        minutes.setdefault(key, []).append(one["seconds"] / 60)
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
