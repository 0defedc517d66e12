# SPDX-License-Identifier: Apache-2.0
"""Gates of the server whose cost is known (`bench/planted`), as many as asked: what do they answer, and in what time?

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/planted_gates.py FOLDER same:20 work-10 -- --margin 16%

A case is a name below, with how often; what follows `--` are options of `gate`. With `--engine compose` among them both
sides are images, built first (bases: the variables STEELYARD_BASE_MAVEN and STEELYARD_BASE_HOTSPOT, as for compose/).
Sessions, the noise certificate (made first, where FOLDER has none) and the answers are kept in FOLDER: a second call
adds to them. Prints every answer of FOLDER, for the lab notes. Run it on a host that does nothing else.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from steelyard.paths import ROOT

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


def main() -> None:
    """Run the gates one after the other, and print all answers."""
    folder, *words = sys.argv[1:]
    cases, options = words, list[str]()
    if "--" in words:
        cases, options = words[: words.index("--")], words[words.index("--") + 1 :]
    asked = [name for case in cases for name in _times(case)]
    kept = Path(folder).resolve()
    kept.mkdir(parents=True, exist_ok=True)
    certificates = kept / "certificates"
    common = [
        "--workload",
        str(HERE / "workload.yaml"),
        "--out",
        str(kept),
        "--certificates",
        str(certificates),
    ]
    if not list(certificates.glob("*.json")):
        baseline, _ = images("same", options) or settings("same")
        equal = [*common, "--baseline", baseline, *_without(options, NOT_FOR_CERTIFY)]
        subprocess.run([ROOT / "steelyard", "certify", *equal], check=True)
    for name in asked:
        baseline, candidate = images(name, options) or settings(name)
        began = time.monotonic()
        sides = ["--baseline", baseline, "--candidate", candidate, "--metric", CASES[name][1]]
        done = subprocess.run(
            [ROOT / "steelyard", "gate", *common, *sides, *options, "--json"],
            stdout=subprocess.PIPE,
            check=False,
        )
        answer = json.loads(done.stdout) if done.stdout.strip() else {}
        told = {
            "case": name,
            "options": options,
            "code": done.returncode,
            "seconds": time.monotonic() - began,
        }
        with (kept / ANSWERS).open("a", encoding="utf-8") as file:
            file.write(json.dumps({**told, "answer": answer}) + "\n")
        if done.returncode == 130:
            sys.exit(130)
    answers = (kept / ANSWERS).read_text(encoding="utf-8").splitlines()
    sys.stdout.write(table([json.loads(line) for line in answers]))


def _times(case: str) -> list[str]:
    name, _, times = case.partition(":")
    if name not in CASES:
        sys.exit(f"{name} is no case: give {', '.join(CASES)}")
    return [name] * int(times or 1)


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
    """Every answer, and how many there were of each kind."""
    lines = [
        "| case | options | answer | what could be said | void | time |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    counts: dict[str, Counter[str]] = {}
    for one in answers:
        answer = one["answer"]
        outcome = answer.get("outcome", f"none (exit code {one['code']})")
        void = f"{answer['void']} of {answer['trials']}" if answer else ""
        cells = (one["case"], " ".join(one["options"]), outcome, answer.get("sentence", ""), void)
        lines.append(f"| {' | '.join(cells)} | {one['seconds'] / 60:.1f} min |")
        counts.setdefault(one["case"], Counter())[outcome] += 1
    told = [
        f"{case}: {', '.join(f'{n} {what}' for what, n in found.items())}" for case, found in counts.items()
    ]
    return "\n".join([*lines, "", *told, ""])


if __name__ == "__main__":
    main()
