# SPDX-License-Identifier: Apache-2.0
"""What the quick form of each experiment takes and detects: `python -m pages.quick_forms` in scripts/ writes
docs/reference/quick-forms.md; with session directories (`python -m pages.quick_forms DIR...`) it takes what they
measured into docs/results/quick-forms.json first.

What a form takes is its plan's, on a host of two cores; what it detects is measured, by the spread of its own sessions,
or *not measured*. Beside that stands what it is predicted to detect, by intervals that lab notes give of sessions of
the same workload, procedure and metric (docs/results/pair-spreads.json); else nothing.
"""

import json
import math
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from steelyard.analysis.paired import LEVEL, detectable_effect, paired_test, t_quantile
from steelyard.analysis.rounds import seconds_of
from steelyard.errors import BadInput
from steelyard.experiment.loader import LoadedExperiment, experiment_files, load_experiment
from steelyard.experiment.matrix import Arm, expand, with_quick
from steelyard.experiment.schema import Experiment
from steelyard.measure.registry import metric_info
from steelyard.paths import EXPERIMENTS
from steelyard.results.figures import percent
from steelyard.results.schema import Session
from steelyard.results.store import SessionDirectory
from steelyard.session.plan import host_checks, metric_checks

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "reference" / "quick-forms.md"
MEASURED = DOCS / "results" / "quick-forms.json"
SPREADS = DOCS / "results" / "pair-spreads.json"
WANTED = 0.10
"""Change in the primary metric that a quick form is to see."""
_HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Written by `python -m pages.quick_forms`. -->
# Quick forms

```
./steelyard plan jvm-count --quick   # what it takes and detects on your host
```

What `--quick` makes of each experiment: arms, blocks and windows by its file (with two levels of each state that is the
host's), the time that its plan takes on two cores (whole ones: [all experiments](experiments.md)), and the change
in its primary metric that it detects with 80 % power, by the spread of pairs in sessions that ran. *Not measured*: no
session of that form is recorded. Where a form is measured or predicted not to see 10 %, its file says why
(`quick.note`), and where an earlier session on your host says so,
[`--quick` takes fewer arms and longer windows](../experiments.md).

*Predicted* is no measurement of the form: it is what its blocks and arms would detect with the spread of a pair that
lab notes tell of sessions of the same workload, procedure and metric, on a virtual machine of two CPUs
([which ones](../results/pair-spreads.json); the form's own where there is one, otherwise all of them, named). Their
windows and arms may have been others, and the upper 95 % bound of a spread of four or five pairs is 2.4 to 2.9 times
as large.

| experiment | primary metric | detects | predicted | minutes | arms | blocks | window | measured |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""

Measured = dict[str, Any]
"""A record of a session: what JSON holds."""


def quick_form(name: str) -> LoadedExperiment:
    """An experiment as `--quick` changes it, with two levels where its host would say which."""
    loaded = load_experiment(EXPERIMENTS / f"{name}.yaml", host_checks(), metrics=metric_checks())
    experiment = with_quick(loaded.experiment, loaded.settings)
    factors = {
        key: factor.model_copy(update={"levels": ["on", "off"]}) if factor.levels == "host" else factor
        for key, factor in experiment.factors.items()
    }
    return loaded._replace(experiment=experiment.model_copy(update={"factors": factors}))


def minutes_of(page: str) -> dict[str, str]:
    """Minutes of each quick form, as the page of all experiments has them."""
    rows = (line.split(" | ") for line in page.splitlines() if line.startswith("| [`"))
    return {cells[0].split("`")[1]: cells[-2] for cells in rows}


def record_of(directory: SessionDirectory) -> Measured:
    """What a session of a quick form tells: the spread of all its comparisons, and what each detects by it.

    Raises:
        BadInput: it was no quick session, or tells no spread.
    """
    session, analysis = directory.session(), directory.analysis()
    primary = session.experiment.metrics.primary
    if not session.quick:
        raise BadInput(f"{directory.path} is no quick session")
    estimates = [one for one in analysis.estimates.get(primary, {}).values() if one.n >= 3]
    cores = [paired_test([math.log(ratio) for ratio in one.ratios]) for one in estimates]
    known = [core for core in cores if core is not None and not core.is_tied]
    if not known:
        raise BadInput(f"{directory.path} tells no spread of {primary}: fewer than three pairs of any arm")
    sd = math.sqrt(math.fsum(core.sd**2 for core in known) / len(known))
    blocks = min(core.n for core in known)
    trials = directory.trials()
    return {
        "session": session.id,
        "experiment": session.experiment.name,
        "day": day_of(session),
        "workload": session.workload.name,
        "metric": primary,
        "arms": len(session.arms),
        "blocks": session.experiment.design.blocks,
        "usable_blocks": blocks,
        "window": session.experiment.load.measure,
        "pair_sd": round(sd, 5),
        "detects": round(detectable_effect(blocks, sd, len(session.arms) - 1) or math.inf, 4),
        "minutes": round(seconds_of(trials) / 60, 1),
        "void": sum(one.state == "void" for one in trials),
        "trials": len(trials),
        "cpus": session.host.cpus,
    }


def day_of(session: Session) -> str:
    """The day on which a session began, in UTC: `2026-11-26`."""
    return datetime.fromtimestamp(session.created, UTC).date().isoformat()


def read_measured(path: Path | None = None) -> list[Measured]:
    """All records of a file (what was measured), oldest first."""
    entries: list[Measured] = json.loads((path or MEASURED).read_text(encoding="utf-8"))
    return entries


def write_measured(path: Path, records: Iterable[Measured]) -> None:
    """Write all records of a file, each on a line of its own."""
    lines = ",\n ".join(json.dumps(record) for record in records)
    path.write_text(f"[\n {lines}\n]\n", encoding="utf-8")


def pair_sd(record: Measured) -> float:
    """Standard deviation of the log ratio of a pair, from a 95 % interval by Student's t."""
    half = math.log(record["high"] / record["low"]) / 2
    return half * math.sqrt(record["blocks"]) / t_quantile(1 - LEVEL / 2, record["blocks"] - 1)


def predict(
    name: str, experiment: Experiment, arms: Sequence[Arm], spreads: Sequence[Measured]
) -> tuple[float, str] | None:
    """Smallest change that a form would detect, as a share, and whose spread says so; None: no session like it is told
    of."""
    alike = [
        one
        for one in spreads
        if (one["workload"], one["procedure"], one["metric"])
        == (experiment.workload, experiment.procedure, experiment.metrics.primary)
    ]
    alike = [one for one in alike if one["experiment"] == name] or alike
    remote = any(arm.deployment.engine == "kubernetes" for arm in arms)
    if not alike or remote or len(arms) < 2 or experiment.search is not None:
        return None
    sd = math.sqrt(math.fsum(pair_sd(one) ** 2 for one in alike) / len(alike))
    effect = detectable_effect(experiment.design.blocks, sd, len(arms) - 1)
    whose = "its own" if alike[0]["experiment"] == name else ", ".join(one["experiment"] for one in alike)
    return None if effect is None else (effect, whose)


def row(name: str, minutes: str, records: Sequence[Measured]) -> str:
    """One line: the form, and the newest record that is of it."""
    loaded = quick_form(name)
    experiment = loaded.experiment
    arms = expand(experiment, loaded.settings)
    own = [one for one in records if one["experiment"] == name]
    detects, measured = "not measured", "-"
    if experiment.search is not None:
        detects = "a search: no interval" if experiment.design.blocks == 1 else detects
    if own:
        last = own[-1]
        detects = percent(last["detects"])
        measured = (
            f"{last['day']}, {last['cpus']} CPUs, {last['usable_blocks']} of {last['blocks']} blocks,"
            f" {last['arms']} arms,"
            f" windows of {last['window']:g} s, {last['void']} of {last['trials']} trials void, {last['minutes']:g} min"
        )
    window = "-" if experiment.procedure == "start-up" else f"{experiment.load.measure:g} s"
    label = metric_info(experiment.metrics.primary).label
    link = f"[`{name}`](../../experiments/{name}.yaml)"
    predicted = predict(name, experiment, arms, read_measured(SPREADS))
    would = "-" if predicted is None else f"{percent(predicted[0])} ({predicted[1]})"
    cells = (link, label, detects, would, minutes, len(arms), experiment.design.blocks, window, measured)
    return f"| {' | '.join(map(str, cells))} |"


def make_page() -> str:
    """The whole page."""
    minutes = minutes_of((PAGE.parent / "experiments.md").read_text(encoding="utf-8"))
    records = read_measured()
    rows = [row(name, minutes[name], records) for name in sorted(experiment_files(EXPERIMENTS))]
    return _HEAD + "\n".join(rows) + "\n"


def main(arguments: Sequence[str]) -> None:
    """Take sessions in, and write the page."""
    if arguments:
        records = [*read_measured(), *(record_of(SessionDirectory(Path(text))) for text in arguments)]
        # A session that is given twice is one.
        write_measured(MEASURED, {one["session"]: one for one in records}.values())
    PAGE.write_text(make_page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
