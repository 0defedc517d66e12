# SPDX-License-Identifier: Apache-2.0
"""Operation mixes that are not constant from the start (pure)."""

from collections.abc import Collection, Mapping


def settling_mix(
    settled: Mapping[str, float], growing: Collection[str], achieved: Mapping[str, float]
) -> dict[str, float]:
    """The mix that was to be expected of a run in which some operations have grown as far as they have.

    Cancelling begins when customers have bookings to cancel, so its share grows from nothing to its settled figure.
    Until then the other operations have larger shares than in the settled mix, in the same proportions.

    Args:
        settled: share of each operation once all have settled; adds up to 1.
        growing: operations whose share grows; any share up to the settled one is as intended.
        achieved: shares that were seen.

    Returns:
        Share of each operation; adds up to 1.
    """
    grown = {name: min(achieved.get(name, 0.0), settled[name]) for name in growing}
    others = 1.0 - sum(settled[name] for name in growing)
    left = 1.0 - sum(grown.values())
    return {name: grown.get(name, share * left / others) for name, share in settled.items()}
