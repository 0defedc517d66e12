# SPDX-License-Identifier: Apache-2.0
"""The certificates of a folder: which one holds here, and what those of a pool's members say together.

member's certificate, a file each -> the newest of each member -> one for the pool: spread of pairs over all members,
and the arm x host term: what a host does to one side and not to the other, which no number of pairs averages out
"""

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import NormalDist, fmean

import scipy

from steelyard.analysis.paired import fraction_of, sd_bound
from steelyard.errors import SteelyardError
from steelyard.gate.certificate import CLOCKS_APART, CONDITION_NAMES, Certificate, Noise
from steelyard.gate.conditions import Conditions, different_fields, unknown_in
from steelyard.gate.interim import FLOOR_POWER, INTERIM_PAIRS, interims_until, levels_of
from steelyard.measure.registry import metric_info
from steelyard.results.figures import count, percent
from steelyard.results.store import read_record

FEWEST_MEMBERS = 3
"""Members of a pool below which nothing can be said of what hosts do to one side."""


def find_certificate(folder: Path, wanted: Conditions, now: float) -> Certificate | str:
    """What holds of a folder: the newest certificate of this host, or those of a pool's members together; else why
    there is none, a phrase."""
    misfits: dict[int, str] = {}
    valid: dict[str, Certificate] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            certificate = read_record(path, Certificate)
        except SteelyardError:
            continue  # what is no certificate is none
        differ = different_fields(certificate.conditions, wanted)
        ahead = certificate.made > now + CLOCKS_APART
        if not differ and not ahead and certificate.expires > now:
            before = valid.get(certificate.member)
            if before is None or before.made < certificate.made:
                valid[certificate.member] = certificate
            continue
        which = {
            "host": "another host",
            "host_settings": "other settings of the host",
            "settings": "other settings of workload, JVM or resources",
        }
        unknown = [name for name in unknown_in(wanted) if name in differ]
        over = "it is of a time that has not come: set this host's clock" if ahead else "it has expired"
        why = f"it is of {which.get(differ[0], f'another {differ[0]}')}" if differ else over
        if unknown:
            why = f"{CONDITION_NAMES.get(unknown[0], unknown[0])} is not known here: {getattr(wanted, unknown[0])}"
        misfits[len(differ)] = f"{path.name} does not hold here ({why})"
    if valid:
        return combine_members(list(valid.values()))
    if misfits:
        return misfits[min(misfits)]
    return f"there is none in {folder}"


def combine_members(members: Sequence[Certificate]) -> Certificate:
    """What certificates of one pool say together; of a host without a pool its own.

    The floor of a pool is the highest of its members', widened by the upper bound of the arm x host term.
    """
    newest = max(members, key=lambda certificate: certificate.made)
    if newest.pool is None or len(members) == 1:
        return newest
    names = [noise.metric for noise in newest.noise if all(each.of(noise.metric) for each in members)]
    noises = [_combine([noise for each in members if (noise := each.of(name)) is not None]) for name in names]
    return newest.model_copy(
        update={
            "members": len(members),
            "blocks": sum(each.blocks for each in members),
            "expires": min(each.expires for each in members),
            "pair_seconds": fmean(each.pair_seconds for each in members),
            "noise": noises,
            "windows": None,
            "notes": list(dict.fromkeys(note for each in members for note in each.notes)),
        }
    )


def host_sd(noises: Sequence[Noise]) -> float | None:
    """The arm x host term of a metric: standard deviation, from host to host, of the log ratio of equal arms beyond
    what their pairs explain (DerSimonian and Laird, Controlled Clinical Trials 7, 1986); None: of too few hosts.

    Args:
        noises: of one metric, one of each host.
    """
    if len(noises) < FEWEST_MEMBERS:
        return None
    weights = [noise.pairs / noise.pair_sd**2 for noise in noises]
    total = math.fsum(weights)
    beyond = _weighted_spread(noises, 0.0) - (len(noises) - 1)
    return math.sqrt(max(0.0, beyond / (total - math.fsum(weight**2 for weight in weights) / total)))


def host_sd_bound(noises: Sequence[Noise]) -> float | None:
    """Upper 95 % bound of that term: hosts that differ so, and more, look as alike as these in 5 % of pools (Q-profile:
    Viechtbauer, Statistics in Medicine 26, 2007); None: of too few hosts.

    The estimate alone is 0 in two of five pools of three hosts whose true term is as large as its standard error.
    """
    if len(noises) < FEWEST_MEMBERS:
        return None
    least = (len(noises) - 1) / sd_bound(len(noises)) ** 2
    if _weighted_spread(noises, 0.0) <= least:
        return 0.0
    logs = [math.log(noise.mean) for noise in noises]
    largest = math.fsum((log - fmean(logs)) ** 2 for log in logs) / least
    bound = scipy.optimize.brentq(lambda term: _weighted_spread(noises, term) - least, 0.0, 1.01 * largest)
    return math.sqrt(bound)


def _weighted_spread(noises: Sequence[Noise], variance: float) -> float:
    """Cochran's Q of the log ratios of equal arms, where hosts differ by such a variance."""
    weights = [1 / (noise.pair_sd**2 / noise.pairs + variance) for noise in noises]
    logs = [math.log(noise.mean) for noise in noises]
    mean = math.fsum(map(math.prod, zip(weights, logs, strict=True))) / math.fsum(weights)
    return math.fsum(weight * (log - mean) ** 2 for weight, log in zip(weights, logs, strict=True))


def pool_sentence(certificate: Certificate, name: str) -> str:
    """What the members of a pool say of a metric together."""
    noise = certificate.of(name)
    if certificate.pool is None or noise is None:
        return ""
    who = f"{metric_info(name).label}, pool {certificate.pool}"
    of = count(certificate.members, "member")
    if noise.host_sd is None or noise.host_sd_bound is None:
        return (
            f"{who}: certificates of {of}; what a host does to one side and not to the other is not known of fewer than"
            f" {FEWEST_MEMBERS}: `certify --pool` on others"
        )
    return (
        f"{who}: equal sides differ by {percent(noise.host_sd)} (standard deviation; 0 to"
        f" {percent(noise.host_sd_bound)}, 95 % bound) from host to host beyond what their pairs explain, over {of}"
    )


def _combine(noises: Sequence[Noise]) -> Noise:
    """One metric over the members of a pool."""
    first = noises[0]
    freedom = [noise.pairs - 1 for noise in noises]
    variances = [noise.pair_sd**2 for noise in noises]
    sd = math.sqrt(math.fsum(map(math.prod, zip(freedom, variances, strict=True))) / sum(freedom))
    bound = host_sd_bound(noises)
    floors = {
        pairs: _widen(max(noise.floors[pairs] for noise in noises), bound, interims_until(pairs))
        for pairs in first.floors
        if all(pairs in noise.floors for noise in noises)
    }
    groups = [noise.groups for noise in noises if noise.groups is not None]
    return first.model_copy(
        update={
            "pairs": sum(noise.pairs for noise in noises),
            "pair_sd": sd,
            "start_sd": sd / math.sqrt(2),
            "floor": _widen(max(noise.floor for noise in noises), bound, INTERIM_PAIRS),
            "floors": floors,
            "host_sd": host_sd(noises),
            "host_sd_bound": bound,
            "mean": math.exp(fmean(math.log(noise.mean) for noise in noises)),
            "p": min(1.0, len(noises) * min(noise.p for noise in noises)),
            "drifts": any(noise.drifts for noise in noises),
            "groups": groups[0] if groups else None,
        }
    )


def _widen(floor: float, bound: float | None, interims: Sequence[int]) -> float:
    """A floor where the sides differ from host to host as well: harm that is found almost surely on any of them."""
    if not bound:
        return floor
    normal = NormalDist()
    beyond = (normal.inv_cdf(1 - levels_of(interims)[-1] / 2) + normal.inv_cdf(FLOOR_POWER)) * bound
    return fraction_of(math.hypot(math.log1p(floor), beyond))
