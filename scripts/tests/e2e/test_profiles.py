# SPDX-License-Identifier: Apache-2.0
"""A cause that was planted is the first of what changed: in CPU time, in allocated memory, in waiting for a
lock; and the report of the session shows it."""

from pathlib import Path

import pytest

from steelyard.analysis.profiles import Change, changes
from steelyard.paths import ROOT
from steelyard.report.sampled import read_profiles
from steelyard.results.schema import Event
from steelyard.results.store import SessionDirectory

from .driver import DONE, call, only_session, openj9

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("host")]

WORKLOAD = ROOT / "scripts" / "bench" / "planted" / "workload.yaml"
SESSION = """\
steelyard: 1
name: planted-{event}
title: A cause that is known
question: Does the profile name it?
workload: {workload}
factors:
  {setting}: {{levels: [{plain}, {planted}]}}
baseline: {{{setting}: {plain}}}
deployment: {{jvms: 1, total_heap: 128m}}
load: {{users: 4, ramp: 500ms, warmup: {{until: fixed, at_least: 3s}}, measure: 10s, request_timeout: 2m}}
metrics: {{primary: throughput}}
design: {{blocks: 2, repeats: 0}}
"""
COMPILED = """\
steelyard: 1
name: compiled
title: Compiled here or in a JITServer
question: Whose CPU time is the compiler's?
workload: ping
factors:
  jit: {levels: [local, remote]}
baseline: {jit: local}
deployment: {jvms: 1, total_heap: 128m, jvm: {gc: generational}}
load: {users: 4, ramp: 500ms, warmup: {until: fixed, at_least: 3s}, measure: 20s, request_timeout: 2m}
metrics: {primary: throughput}
design: {blocks: 2, repeats: 0}
"""


def change_of(file: Path, out: Path, *options: str) -> tuple[SessionDirectory, Change, str]:
    """Of a session of two arms: itself, what changed most, and the arm that is no baseline."""
    done = call("run", str(file), "--out", str(out), *options)
    assert done.returncode in DONE, done.stderr
    session = only_session(out)
    profiles = {profile.record.arm: profile.data for profile in read_profiles(session.path)}
    assert len(profiles) == 2, done.stderr
    baseline = next(arm.name for arm in session.session().arms if arm.baseline)
    (other,) = profiles.keys() - {baseline}
    return session, changes(profiles[baseline], profiles[other])[0], other


@pytest.mark.parametrize(
    ("event", "setting", "plain", "planted", "method", "jvm"),
    [
        ("cpu", "planted.rounds", 200_000, 400_000, "Server.mix", "default"),
        ("cpu", "planted.rounds", 200_000, 400_000, "Server.mix", "openj9"),
        ("alloc", "planted.bytes", 131_072, 262_144, "Server.allocate", "default"),
        ("alloc", "planted.bytes", 131_072, 262_144, "Server.allocate", "openj9"),
        ("lock", "planted.held", 0, 500, "Server.hold", "default"),  # OpenJ9's is refused
    ],
)
def test_a_planted_cause_is_named_first(
    tmp_path: Path, out: Path, event: Event, setting: str, plain: int, planted: int, method: str, jvm: str
) -> None:
    chosen = ("--jdk", str(openj9())) if jvm == "openj9" else ()
    file = tmp_path / "planted.yaml"
    text = SESSION.format(event=event, workload=WORKLOAD, setting=setting, plain=plain, planted=planted)
    file.write_text(text, encoding="utf-8")
    session, change, other = change_of(file, out, "--profile", event, *chosen)
    assert (change.method, change.area) == (method, "application")
    assert change.low > 0
    page = (session.path / "report.html").read_text(encoding="utf-8")
    assert method in page
    assert f"profiles/{other}/{event}/flame.html" in page
    flame = (session.path / "profiles" / other / event / "flame.html").read_text(encoding="utf-8")
    assert method in flame


def test_compilation_leaves_the_server_of_a_jitserver(tmp_path: Path, out: Path) -> None:
    file = tmp_path / "compiled.yaml"
    file.write_text(COMPILED, encoding="utf-8")
    _, change, other = change_of(file, out, "--profile", "cpu", "--jdk", str(openj9(jitserver=True)))
    assert (change.method, other) == ("JIT compiler", "jit-remote")
    assert change.high < 0
