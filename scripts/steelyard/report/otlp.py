# SPDX-License-Identifier: Apache-2.0
"""A session, its trials and its figures as OTLP of OpenTelemetry, in its JSON encoding (opentelemetry.io/docs/specs).

A session is a trace: a span for the session, one for each trial below it, and one for each phase below that. Figures
are gauges. Names are those of the semantic conventions where they have one (`service.*`, `host.*`, `os.*`, `vcs.*`,
`test.*`, `error.type`), units are UCUM's; what they have no name for begins with `steelyard.`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from steelyard.measure.ledger import voiding_checks
from steelyard.measure.registry import metric_info
from steelyard.report.view import trial_name
from steelyard.results.analysis import Analysis
from steelyard.results.schema import Session, Trial

TRACES, METRICS = "/v1/traces", "/v1/metrics"
"""Where a receiver takes them, below its endpoint."""
_INTERNAL, _ERROR = 1, 2
"""Kind of a span, and code of a status, as OTLP numbers them."""
_UNITS = {
    "bytes": "By",
    "share": "1",
    "req/s": "{request}/s",
    "CPU s": "s",
    "count": "{item}",
    "requests": "{request}",
    "MiB": "MiBy",
    "1/s": "/s",
    "1/1k req": "{event}/({request}.1000)",
    "": "1",
}
"""Our units where UCUM writes them in another way."""
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""Architectures where the convention has another name."""
Payload = dict[str, Any]  # JSON that is posted as it is


def trial_spans(session: Session, trial: Trial) -> Payload:
    """The span of a trial and those of its phases."""
    ends = [end for _, end in trial.phases.values()]
    place = f"{trial.block}/{trial.arm}/{trial.attempt}"
    failed = [check.name for check in voiding_checks(trial.checks)]
    attributes: dict[str, object] = {
        "test.suite.name": session.experiment.name,
        "test.case.name": trial_name(trial),
        "test.case.result.status": "pass" if trial.state == "valid" else "fail",
        **_place(session, trial.arm),
        "steelyard.block": trial.block,
        "steelyard.attempt": trial.attempt,
    }
    message = ""
    if trial.state == "void":
        message = trial.failure.detail if trial.failure else ", ".join(failed)
        attributes["error.type"] = (trial.failure and trial.failure.cause) or (failed or ["void"])[0]
    own = _span(session, place, f"trial {trial.arm}", (trial.started, max(ends, default=trial.started)))
    own |= {"parentSpanId": _identifier(session.id, 16), "attributes": _attributes(attributes)}
    own |= {"status": {"code": _ERROR, "message": message}} if trial.state == "void" else {}
    phases = [
        _span(session, f"{place}/{phase}", phase, times) | {"parentSpanId": own["spanId"]}
        for phase, times in trial.phases.items()
    ]
    return _traces(session, [own, *phases])


def session_span(session: Session, end: float, status: str) -> Payload:
    """The span of a session.

    Args:
        session: it.
        end: when it ended, seconds since the epoch.
        status: of `test.suite.run.status`: `success`, `failure` or `aborted`.
    """
    own = _span(
        session, "", f"session {session.experiment.name}", (session.created, max(end, session.created))
    )
    own["spanId"] = _identifier(session.id, 16)
    own["attributes"] = _attributes(
        {
            "test.suite.name": session.experiment.name,
            "test.suite.run.status": status,
            "steelyard.session": session.id,
            "steelyard.workload": session.workload.name,
        }
    )
    own |= {"status": {"code": _ERROR, "message": status}} if status != "success" else {}
    return _traces(session, [own])


def trial_figures(session: Session, trial: Trial) -> Payload:
    """The figures of a valid trial, one gauge a metric, at the end of the trial."""
    at = max((end for _, end in trial.phases.values()), default=trial.started)
    attributes = {**_place(session, trial.arm), "steelyard.block": trial.block}
    gauges = [
        _gauge(f"steelyard.trial.{name}", name, [(value, attributes)], at)
        for name, value in trial.metrics.items()
        if math.isfinite(value)
    ]
    return _metrics(session, gauges)


def session_figures(session: Session, analysis: Analysis, at: float) -> Payload:
    """What a session comes to: means of the arms, and their changes against the baseline with intervals."""
    gauges = []
    for metric, arms in analysis.summaries.items():
        points = [(summary.mean, _place(session, arm)) for arm, summary in arms.items() if summary.n]
        if points:
            gauges.append(_gauge(f"steelyard.session.{metric}", metric, points, at))
    for end in ("ratio", "low", "high"):
        changes = list(_ratios(session, analysis, end))
        if changes:
            gauges.append(_gauge(f"steelyard.change.{end}", "", changes, at))
    return _metrics(session, gauges)


def _ratios(session: Session, analysis: Analysis, end: str) -> Iterator[tuple[float, Mapping[str, object]]]:
    for metric, arms in analysis.estimates.items():
        for arm, estimate in arms.items():
            value = getattr(estimate, end)
            if value is not None:
                named = {"steelyard.metric": metric, "steelyard.baseline": analysis.baseline}
                yield value, {**_place(session, arm), **named}


def _place(session: Session, arm: str) -> dict[str, object]:
    levels = next((record.levels for record in session.arms if record.name == arm), {})
    own: dict[str, object] = {"steelyard.session": session.id, "steelyard.arm": arm}
    return own | {f"steelyard.factor.{name}": level for name, level in levels.items()}


def _gauge(
    name: str, metric: str, points: Sequence[tuple[float, Mapping[str, object]]], at: float
) -> dict[str, object]:
    info = metric_info(metric) if metric else None
    unit = _UNITS.get(info.unit, info.unit) if info is not None else "1"
    data = [
        {"attributes": _attributes(attributes), "timeUnixNano": _nanoseconds(at), "asDouble": value}
        for value, attributes in points
    ]
    about = info.source if info is not None else "Arm / baseline, paired by block; 95 % CI."
    return {"name": name, "description": about, "unit": unit, "gauge": {"dataPoints": data}}


def _span(session: Session, place: str, name: str, times: tuple[float, float]) -> dict[str, Any]:
    return {
        "traceId": _identifier(session.id, 32),
        "spanId": _identifier(f"{session.id} {place}", 16),
        "name": name,
        "kind": _INTERNAL,
        "startTimeUnixNano": _nanoseconds(times[0]),
        "endTimeUnixNano": _nanoseconds(times[1]),
    }


def _identifier(text: str, digits: int) -> str:
    """The same for the same text: a session that goes on after an interruption stays one trace."""
    return sha256(text.encode()).hexdigest()[:digits]


def _nanoseconds(seconds: float) -> str:
    return str(round(seconds * 1e9))


def _resource(session: Session) -> Payload:
    host = session.host
    known: dict[str, object] = {
        "service.name": "steelyard",
        "service.version": session.steelyard_version,
        "service.instance.id": session.id,
        "host.name": host.hostname,
        "host.arch": _ARCHITECTURES.get(host.architecture, host.architecture),
        "host.cpu.model.name": host.cpu_model,
        "os.type": "linux",
        "os.description": host.os,
        "os.version": host.kernel,
    }
    if session.revision:
        known["vcs.ref.head.revision"] = session.revision
    return {"attributes": _attributes(known)}


def _scope(session: Session) -> Payload:
    return {"name": "steelyard", "version": session.steelyard_version}


def _traces(session: Session, spans: list[dict[str, Any]]) -> Payload:
    scoped = [{"scope": _scope(session), "spans": spans}]
    return {"resourceSpans": [{"resource": _resource(session), "scopeSpans": scoped}]}


def _metrics(session: Session, gauges: list[dict[str, object]]) -> Payload:
    scoped = [{"scope": _scope(session), "metrics": gauges}]
    return {"resourceMetrics": [{"resource": _resource(session), "scopeMetrics": scoped}]}


def _attributes(values: Mapping[str, object]) -> list[dict[str, object]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items()]


def _value(value: object) -> dict[str, object]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case _:
            return {"stringValue": str(value)}
