# SPDX-License-Identifier: Apache-2.0
"""Whether servers are what was asked for: their build, and each setting as the running JVM tells it."""

from steelyard.jvm.class_cache import CACHE_FIGURES
from steelyard.jvm.settings import MEASURED
from steelyard.measure.formulas import EVERY
from steelyard.measure.rule import Finding, Rule, judge_none, needs
from steelyard.measure.window import SENTENCES, Started, Window, trial_figure
from steelyard.results.measurement import TrialMeasurement
from steelyard.results.spec import Component, Spec
from steelyard.spec.agreement import differences, format_value
from steelyard.units import quote_value


def read_back(window: Window, component: Component) -> dict[str, int | str]:
    """Settings of a server as the running JVM and the kernel tell them."""
    if component.role != "server":
        return {}
    return {key: value for facts in window.facts(component.name) for key, value in facts.items()}


@trial_figure(SENTENCES)
def wrong_builds(window: Window) -> list[str]:
    """Servers whose build fingerprint is not the expected one."""
    return [
        f"{name} reports build {quote_value(started.info['build'])}, expected {started.component.artifact.build!r}"
        if "build" in started.info
        else f"{name} does not tell its build, which should be {started.component.artifact.build!r}"
        for name, started in window.started.items()
        if started.component.info is not None
        and started.component.artifact.build is not None
        and started.info.get("build") != started.component.artifact.build
    ]


@trial_figure(SENTENCES)
def settings_differ(window: Window) -> list[str]:
    """Settings that read back otherwise than asked for, or not at all."""
    servers = (started for started in window.started.values() if started.component.role == "server")
    return [sentence for server in servers for sentence in _differences(window, server)]


def _differences(window: Window, started: Started) -> list[str]:
    component, said = started.component, started.info.get("settings") or {}
    sentences = [
        f"{component.name} has {key} {said[key]} instead of {asked}"
        if key in said
        else f"{component.name} does not say its {key}, which should be {asked}"
        for key, asked in component.expected_info.items()
        if str(said.get(key)) != asked
    ]
    settings = component.jvm_settings
    if settings is not None and settings.gc_log and component.name not in window.gc_logs:
        sentences.append(f"{component.name} wrote no GC log")
    return sentences + differences(component, window.facts(component.name))


def settings_read(window: Window) -> str:
    """What JVMs were found to run with, servers with the same together."""
    names: dict[str, list[str]] = {}
    for server in window.of("server"):
        known = [
            f"{name} {format_value(name, server.read_back[name])}"
            for name in (*MEASURED, *CACHE_FIGURES)
            if name in server.read_back
        ]
        if known:
            names.setdefault(", ".join(known), []).append(server.name)
    return "; ".join(f"{', '.join(servers)}: {text}" for text, servers in names.items())


def _judge_settings(measurement: TrialMeasurement, spec: Spec) -> Finding:
    judge = judge_none("settings_differ", "Settings read back as asked for", "A setting differs")
    finding = judge(measurement, spec)
    said = [
        finding.detail,
        *([f"Read back: {measurement.settings_read}."] if measurement.settings_read else []),
        *spec.not_read_back,
    ]
    return finding._replace(detail=" ".join(said))


_BUILD = needs(
    lambda spec: any(server.artifact.build for server in spec.servers),
    "Nothing tells what these servers were built from.",
)

RULES = (
    Rule(
        name="build",
        limit=0.0,
        unit="servers",
        says="every server has the expected build fingerprint",
        judge=judge_none("wrong_builds", "Every server is the expected build", "Wrong build"),
        procedures=EVERY,
        unless=_BUILD,
    ),
    Rule(
        name="settings",
        limit=0.0,
        unit="settings",
        says="every setting reads back as asked for",
        judge=_judge_settings,
        procedures=EVERY,
    ),
)
