# SPDX-License-Identifier: Apache-2.0
"""The session that confirms a regression on another member of a pool, or after a restart: it weighs the same two sides
under the same conditions, and is planned anew by the options of the gate, as paths and CPUs are another host's."""

from steelyard.errors import BadInput
from steelyard.gate.conditions import UNKNOWN, conditions_of, fingerprint, unknown_in
from steelyard.host.facts import read_facts
from steelyard.results.schema import HostFacts, Session
from steelyard.results.spec import Spec
from steelyard.session.plan import SessionPlan

_OF_THE_HOST = {"host", "host_settings", "kernel"}
"""Conditions in which a member may differ: of its own certificate."""


def require_same_question(first: Session, plan: SessionPlan) -> None:
    """See that a plan weighs on this host what a session weighed on its own.

    Raises:
        BadInput: the sides, or what they are weighed under, differ, or it cannot be told.
    """
    host = read_facts()
    names = [arm.name for arm in first.arms]
    differ = [
        line
        for name in names
        for line in _differences(first.host, first.arm(name).spec, host, plan.specs.get(name))
    ]
    if differ:
        listed = "; ".join(dict.fromkeys(differ))
        raise BadInput(
            f"this would not confirm {first.id}, for more than the host differs: {listed}. Give the options of that"
            " gate, its builds and a host of as many CPUs"
        )
    if (mine := plan.experiment.metrics.primary) != (theirs := first.experiment.metrics.primary):
        raise BadInput(f"{first.id} decided by {theirs} and this by {mine}: give the options of that gate")


def _differences(first_host: HostFacts, first: Spec, host: HostFacts, second: Spec | None) -> list[str]:
    if second is None:
        return ["the sides"]
    before, now = conditions_of(first_host, first), conditions_of(host, second)
    unknown = {*unknown_in(before), *unknown_in(now)}
    fields = before.model_dump()
    lines = [
        f"the {name} ({value} there, {other} here)" if value != other else f"the {name} ({UNKNOWN})"
        for name, value in fields.items()
        if name not in _OF_THE_HOST and ((other := getattr(now, name)) != value or name in unknown)
    ]
    return [*lines, *(["the builds"] if _builds(first) != _builds(second) else [])]


def _builds(spec: Spec) -> list[tuple[str | None, ...]]:
    """What runs of each component: builds, images by their digests, and JVMs."""
    return [
        (
            component.name,
            component.artifact.build,
            component.artifact.image,
            component.artifact.jvm.runtime_version if component.artifact.jvm is not None else None,
        )
        for component in spec.components
        if component.role != "injector"
    ]


def place_of_confirmation(first: Session, second: Session) -> str:
    """Where a second session ran, for the verdict: what a host does to one side and not to the other it does again,
    and a restart does away with what lasts until then."""
    if fingerprint(first.host) != fingerprint(second.host):
        return "another host"
    if first.boot and second.boot and first.boot != second.boot:
        return "the same host, restarted in between"
    return "the same host"
