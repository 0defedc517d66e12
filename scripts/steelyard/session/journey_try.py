# SPDX-License-Identifier: Apache-2.0
"""One user that makes each visit of a journey once: what it sent, what was answered, what it kept."""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from steelyard.errors import BadInput, ServerFailed
from steelyard.host.java import Jdk
from steelyard.processes.environment import ask
from steelyard.processes.reasons import reason
from steelyard.results.spec import Record
from steelyard.spec.injectors import injector_options
from steelyard.spec.layout import fill_value
from steelyard.workload.journey import Journey
from steelyard.workload.schema import Topology
from steelyard.yamlfile import Scalar, nearest

MOST_SHOWN = 4000
"""Characters of a body that are shown in full."""
_MOST_SAVED = 60
_TIMEOUT_MILLIS = 10_000
_LONGEST = 600
"""Seconds after which a try ends by itself."""


class Exchange(Record):
    """A request and its answer."""

    method: str
    url: str
    request_headers: dict[str, str]
    request_body: str | None = None
    status: int
    headers: dict[str, str]
    body: str


class Operation(Record):
    """An operation as the user of a try saw it."""

    operation: str
    millis: float
    failed: bool
    message: str | None = None
    saved: dict[str, str | list[str]]
    exchanges: list[Exchange]


def journey_of(topology: Topology, visit: str | None) -> Journey:
    """The journey that is tried (raises BadInput: there is none, or no such visit)."""
    if topology.journey is None:
        raise BadInput("its load is built into the injector: only a journey in a workload file can be tried")
    if visit is not None and visit not in topology.journey.visits:
        known = list(topology.journey.visits)
        raise BadInput(f"there is no visit {visit!r}{nearest(visit, known)}: there are {', '.join(known)}")
    return topology.journey


# As the injector reads them: JSON.
def try_settings(
    topology: Topology, values: Mapping[str, Scalar], url: str, visit: str | None
) -> dict[str, Any]:
    """Settings of an injector for one user that makes each visit, or one of them, once (loadgen/README.md).

    Raises:
        BadInput: as `journey_of`.
    """
    settings: dict[str, Any] = {
        "journey": journey_of(topology, visit).document(),
        "parameters": {
            key: fill_value(value, values, "parameters") for key, value in topology.parameters.items()
        },
        "targets": [url],
        "model": "try",
        "measureSeconds": _LONGEST,
        "requestTimeoutMillis": _TIMEOUT_MILLIS,
    }
    return settings if visit is None else {**settings, "mix": {visit: 100}}


# As the injector reads them: JSON.
def run_try(settings: Mapping[str, Any], package: Path, jdk: Jdk) -> list[Operation]:
    """What the user did, in order.

    Args:
        package: folder of the injector, as it is built.

    Raises:
        ServerFailed: the injector did not come to its end; the sentence is its own.
    """
    with tempfile.TemporaryDirectory(prefix="steelyard-try-") as folder:
        output, file = Path(folder, "out"), Path(folder, "settings.json")
        file.write_text(json.dumps({**settings, "output": str(output)}), encoding="utf-8")
        java = [str(jdk.home / "bin" / "java"), *injector_options(jdk.identity), "-XX:TieredStopAtLevel=1"]
        options = [option.replace("${package}", str(package)) for option in java]
        ended = ask([*options, "-cp", f"{package}/lib/*", "dev.steelyard.loadgen.Main", str(file)])
        if ended.returncode != 0:
            said = reason(ended.stderr) or reason(ended.stdout) or "it said nothing"
            raise ServerFailed(f"the injector ended with {ended.returncode}: {said}")
        trace = output / "trace.jsonl"
        lines = trace.read_text(encoding="utf-8").splitlines() if trace.exists() else []
        return [Operation.model_validate_json(line) for line in lines]


def summary_lines(operations: Sequence[Operation]) -> Iterator[str]:
    """A line for each request, what was kept of it, and all of the operation that failed; or that there is none."""
    if not operations:
        yield "no operation was sent: no condition of these visits held"
    for operation in operations:
        for number, exchange in enumerate(operation.exchanges):
            label = operation.operation if number == 0 else ""
            yield f"{label:20} {exchange.status}  {exchange.method} {exchange.url}  {len(exchange.body):,} characters"
        if not operation.exchanges:
            yield f"{operation.operation:20} ---  no HTTP answer was read (a stream, or nothing was sent)"
        yield f"{'':20} {'failed' if operation.failed else 'right'} after {operation.millis:.1f} ms"
        for name, value in operation.saved.items():
            shown = value if isinstance(value, str) else f"[{', '.join(value)}]"
            yield f"{'':22}{name} = {shown if len(shown) <= _MOST_SAVED else shown[:_MOST_SAVED] + '...'}"
        if operation.failed:
            yield from _failure_lines(operation)


def _failure_lines(operation: Operation) -> Iterator[str]:
    yield f"{'':20} {operation.message or 'the injector got no reason'}"
    for exchange in operation.exchanges[-1:]:
        yield f"> {exchange.method} {exchange.url}"
        yield from (f"> {name}: {value}" for name, value in exchange.request_headers.items())
        if exchange.request_body:
            yield from ("> " + line for line in _cut(exchange.request_body))
        yield f"< {exchange.status}"
        yield from (f"< {name}: {value}" for name, value in exchange.headers.items())
        yield from ("< " + line for line in _cut(exchange.body))


def _cut(body: str) -> list[str]:
    more = len(body) - MOST_SHOWN
    return body[:MOST_SHOWN].splitlines() + ([f"... and {more:,} characters more"] if more > 0 else [])
