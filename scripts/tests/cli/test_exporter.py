# SPDX-License-Identifier: Apache-2.0
"""Live figures for Prometheus: read over HTTP, as Prometheus reads them."""

import io
import json
import re
import socket
import urllib.error

import pytest
import yaml
from e2e.driver import free_port
from prometheus_client.parser import text_string_to_metric_families
from rich.console import Console
from shown import failed_trial, quick_session
from waiting import fetch

from steelyard.cli.exporter import Exporter, export_figures
from steelyard.cli.live import PlainScreen
from steelyard.errors import PortInUse
from steelyard.paths import ROOT
from steelyard.results.schema import Planned, Session


@pytest.fixture(scope="module")
def session() -> Session:
    return quick_session()


@pytest.fixture
def port() -> int:
    return free_port()


def figures(port: int) -> dict[str, float]:
    """Samples by name, with their labels."""
    text = fetch(f"http://127.0.0.1:{port}/metrics").decode()
    return {
        one.name + "".join(f" {key}={value}" for key, value in sorted(one.labels.items())): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def test_what_the_screen_is_told_is_served(session: Session, port: int) -> None:
    printed = io.StringIO()
    with export_figures(PlainScreen(Console(file=printed), session), session, port) as watcher:
        watcher.trial_started(Planned(block=1, arm="jvms-1", order=1), 1, 6)
        watcher.phase("measure", 8.0)
        watcher.throughput(12345.5)
        now = figures(port)
        assert now["steelyard_throughput_requests_per_second"] == 12345.5
        assert now["steelyard_phase steelyard_phase=measure"] == 1
        assert now["steelyard_phase steelyard_phase=start"] == 0
        assert now["steelyard_trials_ended"] == 1
        assert now["steelyard_trials_planned"] == 6
        assert now["steelyard_trial_running arm=jvms-1"] == 1
        assert now["steelyard_trial_running arm=jvms-2"] == 0
        good = failed_trial().model_copy(
            update={"state": "valid", "arm": "jvms-1", "metrics": {"throughput": 99.0}}
        )
        watcher.trial_ended(good, 2, 6)
        watcher.trial_ended(failed_trial(), 3, 7)
        then = figures(port)
    assert then["steelyard_trial_metric arm=jvms-1 metric=throughput"] == 99.0
    assert then["steelyard_trials_void"] == 1
    assert then["steelyard_trials_planned"] == 7
    assert then["steelyard_throughput_requests_per_second"] != 12345.5, "no load runs between trials"
    assert "trial 2 of 6" in printed.getvalue(), "the screen is told as before"
    with pytest.raises(urllib.error.URLError):
        figures(port)


def test_it_is_served_on_loopback_alone(session: Session, port: int) -> None:
    with export_figures(PlainScreen(Console(file=io.StringIO()), session), session, port):
        listening = [
            line.split()[1]
            for table in ("tcp", "tcp6")
            for line in open(f"/proc/self/net/{table}", encoding="ascii").readlines()[1:]  # noqa: PTH123, SIM115
            if line.split()[3] == "0A"
        ]
    assert f"0100007F:{port:04X}" in listening
    assert [one for one in listening if one.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"]


def test_a_port_that_is_taken_is_told(session: Session) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(PortInUse, match="choose another --metrics-port"),
        export_figures(PlainScreen(Console(file=io.StringIO()), session), session, taken.getsockname()[1]),
    ):
        pass


def test_without_a_port_nothing_is_served(session: Session) -> None:
    screen = PlainScreen(Console(file=io.StringIO()), session)
    with export_figures(screen, session, None) as watcher:
        assert watcher is screen


def test_the_dashboard_asks_for_what_a_session_serves(session: Session) -> None:
    bundle = ROOT / "compose" / "observe"
    dashboard = json.loads((bundle / "dashboards" / "steelyard.json").read_text(encoding="utf-8"))
    exporter = Exporter(PlainScreen(Console(file=io.StringIO()), session), session)
    good = failed_trial().model_copy(update={"state": "valid", "metrics": {"throughput": 99.0}})
    exporter.trial_ended(good, 1, 6)
    served = {one.name: set(one.labels) for family in exporter.registry.collect() for one in family.samples}
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    asked += [variable["query"]["query"] for variable in dashboard["templating"]["list"]]
    names = set(re.findall(r"\bsteelyard_\w+", " ".join(re.sub(r"{.*?}", "", text) for text in asked)))
    assert names <= served.keys()
    assert len(asked) == len(dashboard["panels"]) + 2, "the trials have two, and there is one variable"
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            (name,) = re.findall(r"^steelyard_\w+", target["expr"])
            assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= served[name]
    sources = yaml.safe_load((bundle / "provisioning/datasources/prometheus.yaml").read_text("utf-8"))
    used = {panel["datasource"]["uid"] for panel in dashboard["panels"]}
    assert used == {source["uid"] for source in sources["datasources"]}


def test_prometheus_asks_the_port_that_the_bundle_names() -> None:
    bundle = ROOT / "compose" / "observe"
    asked = yaml.safe_load((bundle / "prometheus.yml").read_text(encoding="utf-8"))["scrape_configs"][0]
    port = re.search(r"--metrics-port (\d+)", (bundle / "compose.yaml").read_text(encoding="utf-8"))
    assert port is not None
    assert asked["static_configs"] == [{"targets": [f"127.0.0.1:{port[1]}"]}]
