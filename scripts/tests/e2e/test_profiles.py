# SPDX-License-Identifier: Apache-2.0
"""A cause that was planted is the first of what changed: in CPU time, in allocated memory, in waiting for a
lock; and the report of the session shows it."""

from pathlib import Path

import pytest

from steelyard.analysis.profiles import changes
from steelyard.paths import ROOT
from steelyard.report.sampled import read_profiles
from steelyard.results.schema import Event
from steelyard.results.store import SessionDirectory

from .driver import DONE, call, openj9

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
    done = call("run", str(file), "--out", str(out), "--profile", event, *chosen)
    assert done.returncode in DONE, done.stderr
    (session,) = (SessionDirectory(path.parent) for path in out.glob("*/session.json"))
    profiles = {profile.record.arm: profile.data for profile in read_profiles(session.path)}
    assert len(profiles) == 2, done.stderr
    baseline = next(arm.name for arm in session.session().arms if arm.baseline)
    (other,) = profiles.keys() - {baseline}
    change = changes(profiles[baseline], profiles[other])[0]
    assert (change.method, change.area) == (method, "application")
    assert change.low > 0
    page = (session.path / "report.html").read_text(encoding="utf-8")
    assert method in page
    assert f"profiles/{other}/{event}/flame.html" in page
    flame = (session.path / "profiles" / other / event / "flame.html").read_text(encoding="utf-8")
    assert method in flame
