# SPDX-License-Identifier: Apache-2.0
"""A session on a real OpenJ9, where this host has one: what was asked of each server is what it has."""

from pathlib import Path

import pytest

from steelyard.jvm.class_cache import CACHE_FIGURES
from steelyard.measure.gc_log import read_gc_logs
from steelyard.units import MIB

from .driver import DONE, call, free_port, only_session, openj9
from .noise import require_judgeable

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("host")]

EXPERIMENT = """\
steelyard: 1
name: openj9
title: OpenJ9's settings
question: Does a server have what was asked of it?
workload: ping
factors:
  setting:
    levels:
      own: {{gc: regional}}
      tuned: {{gc: generational, initial_heap: same, nursery: 48m, gc_threads: 1, pages: small, class_cache: none}}
      warm: {{gc: generational, compile: foreground, class_cache: warm}}
deployment:
  jdk: {jdk}
  total_heap: 256m
load:
  users: 4
  ramp: 500ms
  warmup: {{until: fixed, at_least: 2s}}
  measure: 4s
  request_timeout: 2m
design: {{blocks: 2, repeats: 0}}
"""


def test_every_setting_is_read_back_from_a_real_openj9(tmp_path: Path, out: Path) -> None:
    jdk = openj9()
    path = tmp_path / "openj9.yaml"
    path.write_text(EXPERIMENT.format(jdk=jdk), encoding="utf-8")
    done = call("run", str(path), "--out", str(out), "--port", str(free_port()))
    assert done.returncode in DONE, done.stderr
    directory = only_session(out)
    for trial in require_judgeable(directory.trials()):
        (server,) = (one for one in trial.components if one.role == "server")
        told, arm = server.read_back, trial.arm.removeprefix("setting-")
        assert told["heap"] == 256 * MIB
        assert told["gc"] == ("regional" if arm == "own" else "generational")
        assert told["class_cache"] == ("unmapped" if arm == "tuned" else "mapped")
        assert (CACHE_FIGURES.keys() <= told.keys()) == (arm != "tuned")
        if arm == "tuned":
            assert (told["nursery"], told["gc_threads"], told["pages"]) == (48 * MIB, 1, "small")
        assert server.cpu_by_group["jit"] > 0
        assert server.cpu_by_group["request"] > 0
        logs = (directory.path / "trials").glob(f"{trial.block:02d}-{trial.arm}*/servers/*/logs/gc*.log")
        pauses = read_gc_logs(logs, trial.phases["start"][0]).pauses
        begin, end = trial.phases["start"][0], trial.phases["stop"][1]
        assert pauses
        assert all(begin <= pause.epoch <= end for pause in pauses), "in the zone of this host"
