# SPDX-License-Identifier: Apache-2.0
"""Recorded sessions give what they gave when they were recorded: the figures of their trials by their samples and logs,
to the last digit, and the analysis by their trials, to nine digits.

Three small ones on the ping server: steady with one and two JVMs, a ramp-up, a search. What no figure is made from was
left out, and host.csv says that nothing else ran.
"""

import json
import math
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

from steelyard.engines.base import Running
from steelyard.measure import jvm, native_memory, thread_states
from steelyard.measure.counted import COUNTS
from steelyard.measure.gc_log import read_gc_logs
from steelyard.measure.health import read_health
from steelyard.measure.histograms import read_logs
from steelyard.measure.samples import Samples
from steelyard.measure.window import ComponentFigure, Window
from steelyard.results.schema import Planned, Session, Trial
from steelyard.results.spec import Spec
from steelyard.results.store import SessionDirectory
from steelyard.selfcheck.trials import undisturbed_run
from steelyard.session.deploying import StartedComponent
from steelyard.session.evidence import facts_of, measure_outcome
from steelyard.session.runner import analyse_again
from steelyard.session.trial import trial_record
from steelyard.spec.search import with_value

SESSIONS = Path(__file__).parent.parent / "fixtures" / "sessions"
NAMES = ("steady", "ramp-up", "search")
_FIGURES = {
    "restarts": "restarts",
    "injectors": "injector_failures",
    "consistency": "inconsistent",
    "not-stopped": "not_stopped",
}
"""By cause: the figure that has its sentences."""


@pytest.fixture(params=NAMES)
def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> SessionDirectory:
    shutil.unpack_archive(SESSIONS / f"{request.param}.zip", tmp_path)
    return SessionDirectory(tmp_path)


def spec_of(session: Session, trial: Trial) -> Spec:
    """The arm's, with what a search tried."""
    spec = next(arm.spec for arm in session.arms if arm.name == trial.arm)
    search = session.experiment.search
    if trial.value is None or search is None:
        return spec
    return with_value(spec, search, trial.value)


def window_of(folder: Path, trial: Trial, spec: Spec) -> Window:
    """What the trial left; of what the harness itself saw, and has in no file, what its record says."""
    measured = trial.measurement
    assert measured is not None
    began, _ = trial.phases["measure"]
    begin = float(math.ceil(began) if spec.procedure == "ramp-up" else math.floor(began))
    window = (begin, begin + measured.measure_seconds)
    loads = [folder / "load" / one.name for one in spec.injectors]
    injectors = SimpleNamespace(
        folders={load.name: load for load in loads},
        messages=lambda: measured.injector_messages,
        summaries=lambda: [json.loads((load / "summary.json").read_text(encoding="utf-8")) for load in loads],
    )
    run = undisturbed_run(
        spec,
        window,
        ramp_end=trial.phases["ramp"][1] if "ramp" in trial.phases else begin,
        throttled=measured.value("throttled_seconds"),
        steady=measured.steady,
        steady_detail=measured.steady_detail,
        survived=trial.survived,
        injectors=injectors,
        thrashing=measured.sentences("thrashing"),
        unwatched=measured.sentences("unwatched"),
        sentences_of=lambda cause: measured.sentences(_FIGURES[cause]),
    )
    started = {}
    for one in spec.servers:
        result = next(result for result in trial.components if result.name == one.name)
        started[one.name] = StartedComponent(
            Running(one, [1], trial.phases["start"][0], True),
            0.0,
            result.value("start_seconds"),
            result.value("start_cpu_seconds"),
            cast("int | None", result.value("start_rss")),
            result.value("ready_message_seconds"),
            info={"build": one.artifact.build, "settings": one.expected_info},
            facts={"info": result.read_back},
        )
    logs = [load / "latency.hlog" for load in loads]
    gc_logs = {
        one.name: read_gc_logs(sorted((folder / "servers" / one.name / "logs").glob("gc.log*")))
        for one in spec.servers
    }
    return Window(
        run,
        started,
        Samples.load(folder / "samples"),
        gc_logs,
        read_logs(logs, *window),
        read_logs(logs),
        # Their injectors did not tell it yet.
        replace(read_health(loads, *window), memory=0.1),
        facts=facts_of(started, gc_logs, {}),
    )


def content(record: Any) -> Any:
    """As it is written."""
    return json.loads(record.model_dump_json())


def _figures_of(module: ModuleType) -> list[ComponentFigure]:
    return [value for value in vars(module).values() if isinstance(value, ComponentFigure)]


def figures_of(part: Any) -> Any:
    """A part of a trial's record without the reasons of what is missing, and without figures that are newer than it."""
    if isinstance(part, list):
        return [figures_of(one) for one in part]
    if not isinstance(part, dict):
        return part
    newer = {
        *("unknown", "gc_unknown", "gc_stall_seconds", "injector_memory_share", "abandoned_requests"),
        *("kernel_share", "softirq_share", "saturated_forwarders", "compiler_wait", "compiler_demand"),
        *("network_path", "operations"),
        *(
            figure.name
            for figure in (
                *COUNTS,
                *(value for file in (jvm, native_memory, thread_states) for value in vars(file).values()),
            )
            if isinstance(figure, ComponentFigure)
        ),
    }
    return {name: figures_of(value) for name, value in part.items() if name not in newer}


def test_samples_and_logs_give_the_figures_that_were_recorded(recorded: SessionDirectory) -> None:
    session, trials = recorded.session(), recorded.trials()
    assert all(trial.metrics for trial in trials)
    for trial in trials:
        spec = spec_of(session, trial)
        folder = recorded.trial_path(trial.block, trial.arm, trial.attempt)
        planned = Planned.at(session.schedule[0], trial.order, trial.attempt, trial.value)
        outcome = measure_outcome(window_of(folder, trial, spec))
        again = trial_record(planned, spec, outcome, trial.started, trial.phases)
        raw = json.loads((folder / "trial.json").read_text(encoding="utf-8"))
        for part in ("measurement", "components", "curves", "trace", "latency", "metrics", "steady", "state"):
            assert figures_of(content(again)[part]) == figures_of(raw[part]), f"{part} of {folder.name}"
        by_name = {check["name"]: check for check in raw["checks"]}
        if by_name["stalled"]["applies"]:
            # They were held against 2.5 s alone, however short the window.
            assert trial.measurement is not None
            by_name["stalled"]["limit"] = min(2.5, 0.1 * trial.measurement.measure_seconds)
            # Nor was a server that nobody asked told from one that stood still.
            said = by_name["stalled"]["detail"].replace("server used", "server was waited for and used")
            by_name["stalled"]["detail"] = said
        if by_name["counts-window"]["applies"]:
            # What was told late was allowed without an end.
            assert trial.measurement is not None
            away = trial.measurement.value("window_counts_away") or 0.0
            by_name["counts-window"]["limit"] -= max(0.0, away / trial.measurement.measure_seconds - 0.01)
        checks = {check["name"]: check for check in content(again)["checks"]}
        assert checks["counts-window"].pop("limit") == pytest.approx(by_name["counts-window"].pop("limit"))
        assert {name: checks[name] for name in by_name} == by_name


def parts(analysis: str) -> tuple[dict[str, float], dict[str, object]]:
    """By its path each figure, and each other value, of an analysis but what metrics are described as, the seal that is
    made of it too, and what newer versions say beside it."""
    content = json.loads(analysis)
    for info in content["metrics"]:
        del info["source"], info["pitfalls"]
    for estimate in (one for arms in content["estimates"].values() for one in arms.values()):
        # No trial of these sessions is void.
        assert estimate.pop("left_in", []) == []
    content.pop("carry_over", None)
    assert not any(content.pop("left_in", {}).values())
    del content["seal"]
    values = dict(leaves(content, ""))
    figures = {path: value for path, value in values.items() if isinstance(value, float)}
    return figures, {path: value for path, value in values.items() if path not in figures}


def leaves(content: object, path: str) -> Iterator[tuple[str, object]]:
    """Values below a value of JSON, each with its path; of an empty list or object that one itself."""
    if isinstance(content, dict | list) and content:
        entries = content.items() if isinstance(content, dict) else enumerate(content)
        for key, entry in entries:
            yield from leaves(entry, f"{path}/{key}")
    else:
        yield path, content


def test_trials_give_the_analysis_that_was_recorded(recorded: SessionDirectory) -> None:
    path = recorded.path / "analysis.json"
    before = path.read_text(encoding="utf-8")
    analysis = analyse_again(recorded)
    figures, others = parts(path.read_text(encoding="utf-8"))
    figures_before, others_before = parts(before)
    assert others == others_before
    # The last digit of a power or a logarithm is the processor's.
    assert figures == pytest.approx(figures_before, rel=1e-9)
    assert analysis.searches or any(analysis.estimates.values()), "it has figures"
