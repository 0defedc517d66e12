# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from steelyard.analysis.metrics import METRICS, known, metric
from steelyard.analysis.reference import markdown
from steelyard.experiment.schema import Metrics

PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"


def test_page_is_what_the_registries_say():
    assert PAGE.read_text(encoding="utf-8") == markdown(), (
        "docs/metrics.md is old: python -m steelyard.analysis.reference > ../docs/metrics.md"
    )


def test_registry():
    names = [info.name for info in METRICS]
    assert len(set(names)) == len(names) == 31
    assert all(info.source.endswith(".") and info.pitfalls.endswith(".") and info.unit for info in METRICS)
    assert all("|" not in info.source + info.pitfalls for info in METRICS)


def test_defaults_of_the_experiment_are_known():
    asked = Metrics()
    assert all(known(name) for name in [asked.primary, *asked.report])


def test_unknown_metric_is_described_as_such():
    assert not known("speed_of_light")
    assert metric("speed_of_light").label == "speed of light"
