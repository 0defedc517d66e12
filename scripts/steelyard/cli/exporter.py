# SPDX-License-Identifier: Apache-2.0
"""Live figures of a running session for Prometheus: what the screen is told, as gauges on a port of loopback."""

from collections.abc import Iterator
from contextlib import contextmanager
from math import nan
from typing import get_args

from prometheus_client import CollectorRegistry, Enum, Gauge, Info, start_http_server

from steelyard.errors import PortInUse
from steelyard.results.schema import Phase, Planned, Session, Trial
from steelyard.session.context import PassingWatcher, Watcher

LOOPBACK = "127.0.0.1"


@contextmanager
def export_figures(watcher: Watcher, session: Session, port: int | None) -> Iterator[Watcher]:
    """Serve `http://127.0.0.1:PORT/metrics` while a session runs; the watcher given is told everything as before.

    Args:
        watcher: the screen.
        session: whose figures they are.
        port: None: serve nothing.

    Raises:
        PortInUse: somebody else listens there.
    """
    if port is None:
        yield watcher
        return
    exporter = Exporter(watcher, session)
    try:
        server, thread = start_http_server(port, addr=LOOPBACK, registry=exporter.registry)
    except OSError as error:
        raise PortInUse(f"port {port} is taken ({error.strerror}): choose another --metrics-port") from error
    try:
        yield exporter
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Exporter(PassingWatcher):
    """Keeps gauges."""

    def __init__(self, watcher: Watcher, session: Session) -> None:
        super().__init__(watcher)
        self.registry = CollectorRegistry()
        info = Info("steelyard_session", "The running session.", registry=self.registry)
        info.info({"id": session.id, "experiment": session.experiment.name})
        self._ended = self._gauge("trials_ended", "Trials that have ended, void ones included.")
        self._planned = self._gauge(
            "trials_planned", "Trials of the session as far as is known; repeats of void ones add to it."
        )
        self._planned.set(len(session.schedule))
        self._block = self._gauge("block", "Block of the running trial.")
        self._arm = self._gauge("trial_running", "1 for the arm of the running trial.", "arm")
        for arm in session.arms:
            self._arm.labels(arm.name).set(0)
        self._phase = Enum(
            "steelyard_phase",
            "Phase of the running trial.",
            states=list(get_args(Phase)),
            registry=self.registry,
        )
        self._throughput = self._gauge(
            "throughput_requests_per_second",
            "Requests over the last second by the servers' own counters; NaN without load.",
        )
        self._throughput.set(nan)
        self._metric = self._gauge("trial_metric", "Figures of each arm's last valid trial.", "arm", "metric")
        self._void = self._gauge(
            "trials_void", "Void trials that ended since the session was started or resumed."
        )

    def trial_started(self, planned: Planned, done: int, total: int) -> None:
        """Note the trial."""
        self._block.set(planned.block)
        self._arm.labels(planned.arm).set(1)
        self._count(done, total)
        super().trial_started(planned, done, total)

    def phase(self, phase: Phase, seconds: float | None) -> None:
        """Note the phase."""
        self._phase.state(phase)
        super().phase(phase, seconds)

    def throughput(self, rate: float) -> None:
        """Note the throughput."""
        self._throughput.set(rate)
        super().throughput(rate)

    def trial_ended(self, trial: Trial, done: int, total: int) -> None:
        """Note the outcome."""
        self._arm.labels(trial.arm).set(0)
        self._throughput.set(nan)
        self._count(done, total)
        if trial.state == "void":
            self._void.inc()
        else:
            for name, value in trial.metrics.items():
                self._metric.labels(trial.arm, name).set(value)
        super().trial_ended(trial, done, total)

    def _count(self, done: int, total: int) -> None:
        self._ended.set(done)
        self._planned.set(total)

    def _gauge(self, name: str, about: str, *labels: str) -> Gauge:
        return Gauge(f"steelyard_{name}", about, labels, registry=self.registry)
