# SPDX-License-Identifier: Apache-2.0
"""What a profiling trial starts, keeps, and says of what profiling cost."""

import os
import platform
from dataclasses import replace
from pathlib import Path

import pytest
from builders import make_component, make_jvm, make_measurement, make_spec, make_trial
from sessions import Bench

from steelyard.errors import BadInput, ServerFailed
from steelyard.jvm.identity import JvmIdentity
from steelyard.measure.ledger import judge
from steelyard.results.measurement import ComponentResult
from steelyard.results.schema import Profiler
from steelyard.results.spec import Artifact, Spec
from steelyard.results.store import SessionDirectory
from steelyard.session.async_profiler import keep_window
from steelyard.session.evidence import TrialOutcome
from steelyard.session.profilers import require_profilers
from steelyard.session.profiling import Profiles, profiling_cost


@pytest.fixture
def profiles(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Profiles:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    return Profiles(SessionDirectory(tmp_path / "session"), {}, bench.context(), lambda *_: None)


def jitserver_spec() -> Spec:
    components = [make_component(), make_component("compiler"), make_component("injector")]
    return make_spec(components=components)


@pytest.mark.parametrize("profilers", [["cpu"], ["alloc"], ["jfr", "perf"]])
def test_a_jitserver_is_left_alone(profiles: Profiles, profilers: list[Profiler]) -> None:
    plain = jitserver_spec()
    spec = profiles._with_profilers(plain, profilers)
    changed = {
        part.role
        for part, before in zip(spec.components, plain.components, strict=True)
        if part.jvm_options != before.jvm_options
    }
    assert changed == {"server"}


def spec_on(jvm: JvmIdentity) -> Spec:
    artifact = Artifact(form="liberty", package="app", build="f", jvm=jvm)
    return make_spec(components=[make_component(artifact=artifact), make_component("injector")])


def test_locks_of_openj9_are_refused_before_the_first_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert require_profilers(["lock"], [spec_on(make_jvm())], searches=False) == ["lock"]
    arms = [spec_on(make_jvm()), spec_on(make_jvm("openj9"))]
    with pytest.raises(BadInput, match="async-profiler's lock events end an OpenJ9"):
        require_profilers(["lock", "cpu"], arms, searches=False)
    assert require_profilers(["wall"], arms, searches=False) == ["wall"]


@pytest.mark.parametrize(("jvm", "is_slow"), [(make_jvm("openj9"), True), (make_jvm(), False)])
def test_openj9_samples_allocations_on_its_slow_path(
    profiles: Profiles, jvm: JvmIdentity, is_slow: bool
) -> None:
    spec = spec_on(jvm)
    events: tuple[tuple[Profiler, bool], ...] = (("alloc", is_slow), ("cpu", False))
    for event, expected in events:
        server, _ = profiles._with_profilers(spec, [event]).components
        assert ("-Xgc:fvtest=disableInlineAllocation" in server.jvm_options) is expected


def test_a_trial_has_slices_of_every_server_or_is_no_profile(tmp_path: Path) -> None:
    spec = make_spec(components=[make_component(), make_component(number=2)])
    logs = {part.name: tmp_path / part.name for part in spec.components}
    for folder in logs.values():
        folder.mkdir()

    def write(name: str) -> None:
        path = logs[name] / "cpu-0.collapsed"
        path.write_text("frame 1\n", encoding="utf-8")
        os.utime(path, (1004.0, 1004.0))

    write("server-1")
    with pytest.raises(ServerFailed, match="no slice of the window of server-2, which has to be 4 s long"):
        keep_window("cpu", spec, logs, (1000.0, 1010.0), tmp_path / "kept")
    write("server-2")
    both = {"server-1": ["cpu-0.collapsed"], "server-2": ["cpu-0.collapsed"]}
    assert keep_window("cpu", spec, logs, (1000.0, 1010.0), tmp_path / "kept") == both


def outcome_of(cpu: float, requests: int = 60_000, steal: float = 0.0) -> TrialOutcome:
    measurement = make_measurement(steal_share=steal)
    checks = judge(measurement, make_spec())
    part = ComponentResult.model_validate(
        {"name": "server-1", "role": "server", "cpu_seconds": cpu, "requests": requests}
    )
    return TrialOutcome(checks=checks, measurement=measurement, components=[part])


def test_under_an_open_load_the_cpu_of_the_servers_shows_what_profiling_costs() -> None:
    spec = make_spec(components=[make_component()])
    usual = make_trial(arm=spec.arm, metrics={"throughput": 1000.0, "cpu_per_1k": 1.0})
    void = make_trial(arm=spec.arm, state="void", metrics={"throughput": 1.0, "cpu_per_1k": 9.0})
    other = make_trial(arm="jvms-2", metrics={"throughput": 1.0, "cpu_per_1k": 9.0})
    trials = [usual, void, other]
    calm = profiling_cost(spec, outcome_of(60.0), trials)
    dear = profiling_cost(spec, outcome_of(78.0, steal=0.5), trials)
    assert calm.throughput_change == dear.throughput_change == pytest.approx(0.0)
    assert dear.cpu_change is not None
    assert calm.cpu_change is not None
    assert (1 + dear.cpu_change) / (1 + calm.cpu_change) == pytest.approx(1.3)
    assert (calm.failed_checks, dear.failed_checks) == ([], ["steal"])
    nothing = profiling_cost(spec, replace(outcome_of(60.0), components=[]), [])
    assert (nothing.throughput_change, nothing.cpu_change) == (None, None)
