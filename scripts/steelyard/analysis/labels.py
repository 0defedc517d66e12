# SPDX-License-Identifier: Apache-2.0
"""Arms in the experiment's words (pure)."""

from steelyard.experiment.schema import Factor
from steelyard.results.schema import Session


def arm_label(session: Session, arm: str) -> str:
    """An arm in the experiment's words: `JVMs = 4, pages = large`."""
    record = next(one for one in session.arms if one.name == arm)
    factors = session.experiment.get("factors", {})
    named = {
        name: Factor.model_validate(factors[name]).label if name in factors else None
        for name in record.levels
    }
    return ", ".join(f"{named[name] or name} = {level}" for name, level in record.levels.items())
