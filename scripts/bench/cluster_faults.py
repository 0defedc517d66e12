# SPDX-License-Identifier: Apache-2.0
"""Does to sessions on a Kubernetes node what clusters do to pods, and prints what each session says of it.

    k8s/local/node.sh -d .steelyard/test/node start, and its images: ping, loadgen and harness
    PYTHONPATH=scripts:scripts/tests .steelyard/venv/bin/python scripts/bench/cluster_faults.py [FAULT ...]

A session of tiny trials on ping is hit in the measurement of its first one. That has to be void with a sentence, the
next one has to come to its own measurement, and after Ctrl-C nothing of the session may be left in its namespace.
Where the fault leaves nothing to go on with, the session has to end by itself with a sentence. Exit code 1 when
anything of this did not hold. About 40 seconds for each fault; the node is taken as it is, and no other one.
"""

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from containers.node import Node
from e2e.driver import EXPERIMENT, NOISE, Running, end_all
from faults import children_that_run
from stages import NODE, NODE_STATE

from steelyard.measure.ledger import voiding_checks
from steelyard.results.schema import Trial

RUN = [*NODE, "run"]
AWAY = 20.0
"""Seconds without an API server."""
SECONDS = 12
"""Of a measurement: long enough for what takes a while to be told."""
MEMORY = "800m"
QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "few"},
    "spec": {"hard": {"pods": "1"}},
}


class Trouble(Exception):
    """Something was lost, left or not said."""


class Victim:
    """A session in a namespace of its own."""

    def __init__(self, node: Node, name: str) -> None:
        self.node, self.namespace = node, f"faults-{name}-{os.getpid()}"
        folder = Path(tempfile.mkdtemp(prefix=f"cluster-fault-{name}-"))
        self.out = folder / "results"
        self.out.mkdir()
        self._experiment = folder / "tiny.yaml"
        text = EXPERIMENT.replace(
            "deployment:\n", f"deployment:\n  engine: kubernetes\n  total_memory: {MEMORY}\n"
        )
        text = text.replace("repeats: 1", "repeats: 0").replace("measure: 4s", f"measure: {SECONDS}s")
        self._experiment.write_text(text.replace("total_heap: 256m", "total_heap: 128m"), encoding="utf-8")
        node.kubectl("create", "namespace", self.namespace)
        self.running: Running | None = None

    def begin(self, *more: str) -> Running:
        """Start the session."""
        words = ["run", str(self._experiment), "--out", self.out.name, "--seed", "7", *more]
        self.running = Running(*words, "--namespace", self.namespace, out=self.out, through=RUN)
        return self.running

    def measured(self) -> Running:
        """The session in the measurement of its first trial."""
        running = self.begin()
        running.wait_for_phase("measure", 0.0)
        return running

    def ask(self, *arguments: str, text: str | None = None) -> str:
        """What kubectl prints in the namespace."""
        return str(self.node.kubectl(*arguments, "--namespace", self.namespace, text=text))

    def void(self) -> str:
        """What the first trial is void for, once the second one is measured; nothing is left after Ctrl-C."""
        running = self.running
        assert running is not None
        (first, *_) = running.wait_for_trials(1)
        if first.state != "void":
            raise Trouble("the trial is valid")
        running.wait_for_phase("measure", first.started + SECONDS)
        running.interrupt()
        self.require_empty()
        told = [str(first.failure)] if first.failure else _causes(first)
        if not told:
            raise Trouble("nothing but the noise of the host voids the trial")
        return "; ".join(told)

    def ended(self) -> str:
        """The exit code and the sentence of a session that ends by itself."""
        running = self.running
        assert running is not None
        code = running.end()
        self.require_empty()
        lines = [line for line in running.errors.read_text(encoding="utf-8").splitlines() if line.strip()]
        if code in (0, 1, -9) or any("Traceback" in line for line in lines):
            raise Trouble(f"exit code {code}: {lines[-1:]}")
        return f"exit code {code}: {lines[-1]}"

    def require_empty(self) -> None:
        """Nothing of the session is there."""
        if left := self.node.held(self.namespace):
            raise Trouble(f"left: {left}")

    def close(self) -> None:
        """End what runs, and remove the namespace."""
        end_all()
        self.node.ask("delete", "namespace", self.namespace, "--wait=false")


def evicted(victim: Victim) -> str:
    """By the eviction API, as a drain or a autoscaler asks for it."""
    victim.measured()
    about = {"name": "server-0", "namespace": victim.namespace}
    asked = json.dumps({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": about})
    path = f"/api/v1/namespaces/{victim.namespace}/pods/server-0/eviction"
    victim.node.kubectl("create", "--raw", path, "--filename=-", text=asked)
    return victim.void()


def drained(victim: Victim) -> str:
    """All pods of the node are evicted, and it takes no others for a while."""
    victim.measured()
    (name,) = (one["metadata"]["name"] for one in victim.node.get("nodes")["items"])
    words = [
        "--force",
        "--delete-emptydir-data",
        "--ignore-daemonsets",
        "--grace-period=5",
        "--disable-eviction=false",
    ]
    victim.node.ask("drain", name, *words, "--timeout=20s")
    time.sleep(5)
    victim.node.kubectl("uncordon", name)
    return victim.void()


def injector_killed(victim: Victim) -> str:
    """The pod of an injector is deleted."""
    victim.measured()
    victim.ask(
        "delete", "pod", "--selector=app.kubernetes.io/component=injector", "--grace-period=0", "--force"
    )
    return victim.void()


def out_of_memory(victim: Victim) -> str:
    """Another process in the server's container takes what is left of its limit."""
    victim.measured()
    victim.node.ask(
        "exec", "server-0", "--namespace", victim.namespace, "--container=server", "--", "tail", "/dev/zero"
    )
    return victim.void()


def too_little(victim: Victim) -> str:
    """A limit with which the server does not start."""
    victim.begin("--set", "total_memory=140m", "--set", "total_heap=64m")
    return victim.ended()


def api_server_away(victim: Victim) -> str:
    """The API server stands still for a while: nothing is lost."""
    running = victim.measured()
    (pid,) = (
        int(one.name)
        for one in Path("/proc").glob("[0-9]*")
        if _runs(one, "kube-apiserver") and str(NODE_STATE) in _line(one)
    )
    os.kill(pid, signal.SIGSTOP)
    time.sleep(AWAY)
    os.kill(pid, signal.SIGCONT)
    os.kill(psutil.Process(pid).ppid(), signal.SIGCONT)  # nsenter stops with what it runs
    (first, *_) = running.wait_for_trials(1)
    running.wait_for_phase("measure", first.started + SECONDS)
    running.interrupt()
    victim.require_empty()
    return str(first.failure or "; ".join(["the trial went on to its end", *_causes(first)]))


def image_missing(victim: Victim) -> str:
    """The images are of a version that nobody has."""
    before = os.environ.get("STEELYARD_VERSION")
    os.environ["STEELYARD_VERSION"] = "0.0.0-none"
    try:
        victim.begin()
        return victim.ended()
    finally:
        del os.environ["STEELYARD_VERSION"]
        if before is not None:
            os.environ["STEELYARD_VERSION"] = before


def quota(victim: Victim) -> str:
    """The namespace may have one pod."""
    victim.ask("create", "--filename=-", text=json.dumps(QUOTA))
    victim.begin()
    return victim.ended()


def namespace_deleted(victim: Victim) -> str:
    """Somebody deletes the namespace in mid-measurement."""
    victim.measured()
    victim.node.kubectl("delete", "namespace", victim.namespace, "--wait=false")
    return victim.ended()


def stale(victim: Victim) -> str:
    """Harness and guard are killed at once; the next session finds what they left, removes it and runs."""
    running = victim.measured()
    running.process.send_signal(signal.SIGSTOP)  # else it would have another guard
    for guard in list(children_that_run("guard.py", running.process.pid)):
        os.kill(guard, signal.SIGKILL)
    running.process.kill()
    running.end()
    left = victim.node.held(victim.namespace)
    if not left:
        raise Trouble("nothing was left to be removed")
    victim.out = victim.out.with_name("again")
    victim.out.mkdir()
    again = victim.begin()
    again.wait_for_phase("measure", 0.0)
    again.interrupt()
    victim.require_empty()
    return f"{len(left)} objects of a session that was killed were removed, and the next one ran"


FAULTS: dict[str, Callable[[Victim], str]] = {
    one.__name__.replace("_", "-"): one
    for one in (
        evicted,
        drained,
        injector_killed,
        out_of_memory,
        too_little,
        api_server_away,
        image_missing,
        quota,
        namespace_deleted,
        stale,
    )
}


def _causes(trial: Trial) -> list[str]:
    return [
        check.detail for check in voiding_checks(trial.checks) if check.name not in {*NOISE, "clock-offset"}
    ]


def _runs(process: Path, name: str) -> bool:
    return _line(process).split(" ")[0].endswith(name)


def _line(process: Path) -> str:
    with suppress(OSError):
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


@contextmanager
def victim_of(node: Node, name: str) -> Iterator[Victim]:
    """A namespace for one fault, which is removed again."""
    found = Victim(node, name)
    try:
        yield found
    finally:
        found.close()


def main() -> None:
    """Run the faults that were named, or all; one line each."""
    node, troubles = Node(), 0
    os.environ.setdefault("STEELYARD_REGISTRY", "localhost/steelyard")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in sys.argv[1:] or FAULTS:
        began = time.monotonic()
        with victim_of(node, name) as victim:
            try:
                said = FAULTS[name](victim)
            except (Trouble, AssertionError) as trouble:
                troubles += 1
                said = f"TROUBLE: {trouble} (see {victim.out})"
        print(f"{name}: {said}; {time.monotonic() - began:.0f} s", flush=True)  # noqa: T201
    sys.exit(1 if troubles else 0)


if __name__ == "__main__":
    main()
