# SPDX-License-Identifier: Apache-2.0
"""Outputs for machines: CSV, and lines in Go's benchmark format for `benchstat`."""

import csv
import io
import re

from steelyard.escape import for_spreadsheet, printable
from steelyard.measure.requests import THROUGHPUT
from steelyard.report.view import View
from steelyard.results import figures
from steelyard.results.analysis import MetricInfo, SearchResult

_SPREAD = ("mean", "min", "max", "sd", "cv")
_COMPARED = (
    "ratio",
    "low",
    "high",
    "p",
    "p_adjusted",
    "comparisons",
    "detectable",
    "detectable_high",
    "cannot_rule_out",
)
CSV_COLUMNS = ("metric", "unit", "better", "arm", "baseline", "n", *_SPREAD, "blocks", *_COMPARED)
"""`n`: valid trials of the arm; `blocks`: blocks in which the baseline is valid too."""
_SECONDS = {"ms": 1e-3, "s": 1.0, "CPU s": 1.0}


def to_csv(view: View) -> str:
    """One row per arm and metric, raw units; what there is no figure of stays empty."""
    target = io.StringIO()
    writer = csv.DictWriter(target, CSV_COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for metric in view.analysis.metrics:
        writer.writerows(_row(view, metric, arm.name) for arm in view.arms)
    writer.writerows(_search_row(view, result) for result in view.analysis.searches)
    return target.getvalue()


def _row(view: View, metric: MetricInfo, arm: str) -> dict[str, object]:
    s, e = view.summary(metric.name, arm), view.estimate(metric.name, arm)
    row: dict[str, object] = {"metric": for_spreadsheet(metric.name), "unit": metric.unit}
    row |= {"better": metric.better, "arm": for_spreadsheet(arm), "baseline": for_spreadsheet(view.baseline)}
    row |= {"n": s.n if s else 0, "blocks": e.n if e else ""}
    row |= {name: figures.plain(getattr(s, name)) for name in _SPREAD if s}
    # Solved for numerically: more digits differ by platform.
    return row | {name: figures.plain(getattr(e, name), 6) for name in _COMPARED if e}


def _search_row(view: View, result: SearchResult) -> dict[str, object]:
    """What the searches of an arm found, under the metric `search`; mean, min and max are over blocks."""
    values = [run.value for run in result.runs if run.value is not None]
    unit = {"memory": "bytes", "rate": "arrivals/s"}.get(result.varies, result.varies)
    better = "lower" if result.varies == "memory" else "higher"
    row: dict[str, object] = {"metric": "search", "unit": unit, "better": better}
    row |= {
        "arm": for_spreadsheet(result.arm),
        "baseline": for_spreadsheet(view.baseline),
        "n": result.n,
        "mean": figures.plain(result.value),
    }
    row |= {"min": figures.plain(min(values, default=None)), "max": figures.plain(max(values, default=None))}
    if result.against is not None:
        row["blocks"] = result.against.n
        row |= {name: figures.plain(getattr(result.against, name), 6) for name in ("ratio", "low", "high")}
    return row


def to_benchstat(view: View) -> str:
    """One line per valid trial in Go's benchmark format; `benchstat -col /<factor>` compares levels.

    The baseline arm comes first: benchstat compares with the first column. Benchstat takes trials as independent
    and tests medians; the paired estimates of report.csv use the blocks and see smaller effects.
    """
    measures = [(metric, *_benchstat_unit(metric)) for metric in view.measured_metrics]
    session = view.session
    facts = {"session": session.id, "host": session.host.hostname, "cpu": session.host.cpu_model}
    if len(view.jvms) == 1:
        facts["jvm"] = view.jvms[0].full_name
    lines = [f"{key}: {' '.join(printable(text).split())}" for key, text in facts.items()]
    lines += [f"Unit {unit} better={m.better}" for m, unit, _ in measures if m.better != "neither"]
    name = _camel(view.experiment.name)
    for arm in sorted(view.arms, key=lambda arm: arm.name != view.baseline):
        path = "".join(f"/{_token(key)}={_token(level)}" for key, level in arm.levels.items())
        for trial in view.of_arm(arm.name, valid=True):
            values = [
                f"{figures.plain(trial.metrics[metric.name] * times)} {unit}"
                for metric, unit, times in measures
                if metric.name in trial.metrics
            ]
            if values:
                lines.append(f"Benchmark{name}{_no_procs(path)} 1 {' '.join(values)}")
    return "\n".join(lines) + "\n"


def _benchstat_unit(metric: MetricInfo) -> tuple[str, float]:
    """A unit that benchstat knows how to scale (bytes, seconds, or a plain number), and the factor to it."""
    if metric.name == THROUGHPUT:
        return "req/s", 1.0
    suffix = {"bytes": "-bytes", **dict.fromkeys(_SECONDS, "-sec")}.get(metric.unit, "")
    return metric.name.replace("_", "-") + suffix, _SECONDS.get(metric.unit, 1.0)


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name))


def _token(raw: object) -> str:
    return re.sub(r"[\s/=]+", "_", printable(str(raw))) or "_"


def _no_procs(path: str) -> str:
    """Go reads a number after the last hyphen as GOMAXPROCS: write another hyphen-like sign there."""
    return re.sub(r"-(\d+)$", r"_\1", path)
