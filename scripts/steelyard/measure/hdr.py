# SPDX-License-Identifier: Apache-2.0
"""Histograms as HdrHistogram encodes them (version 2, compressed), as arrays of counts.

Slots of a histogram with three digits from 1 up: one for each value below 2,048, and for every further power of two
1,024 of equal width. Encoded are a header and, from slot 0 on, zigzag LEB128 numbers: a count, or minus the number of
empty slots that follow.

The library `hdrhistogram`, which tests hold this against, decodes the same counts in a third more time, and rounds the
ranks of quantiles where this takes the ceiling; the image of the harness is made of Debian's packages alone, for every
architecture, and Debian has none of it.
"""

import base64
import math
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
_HALF = 1024
_SLOTS = 54 * _HALF
"""Enough for every value of 63 bits."""
_OUTER, _INNER = struct.Struct(">II"), struct.Struct(">IIIIQQd")
_COMPRESSED, _PLAIN = 0x1C849314, 0x1C849313
"""What the two begin with."""
_DIGITS, _LOWEST = 3, 1
_LONGEST = 8
"""Bytes of a number; a ninth would be for a count beyond 2^55."""

_number = np.arange(_SLOTS)
_shift = np.maximum(_number // _HALF - 1, 0)
LOW: Counts = (_number - _shift * _HALF) << _shift
"""Smallest value of each slot."""
HIGH: Counts = LOW + (1 << _shift) - 1
"""Largest value of each slot."""
MIDDLE: Counts = LOW + (1 << _shift) // 2
"""What a count of a slot adds to a mean."""


def empty() -> Counts:
    """No count in any slot."""
    return np.zeros(_SLOTS, np.int64)


def decode(text: str) -> Counts:
    """The counts of an encoded histogram; raises ValueError where it is none of three digits, or damaged."""
    try:
        outer = base64.b64decode(text, validate=True)
        cookie, _ = _OUTER.unpack_from(outer)
        if cookie != _COMPRESSED:
            raise ValueError(f"unknown encoding {cookie:#x}")
        inner = zlib.decompress(outer[_OUTER.size :])
        cookie, length, _, digits, lowest, _, _ = _INNER.unpack_from(inner)
    except (zlib.error, struct.error) as error:
        raise ValueError(str(error)) from error
    if (cookie, digits, lowest) != (_PLAIN, _DIGITS, _LOWEST) or len(inner) != _INNER.size + length:
        raise ValueError("not a histogram of three digits")
    return _spread(_numbers(np.frombuffer(inner, np.uint8, offset=_INNER.size)))


def _numbers(data: NDArray[np.uint8]) -> Counts:
    """Zigzag LEB128: seven bits a byte, the lowest first, the eighth bit on all but the last."""
    ends = np.flatnonzero(data < 128)
    starts = np.concatenate(([0], ends[:-1] + 1)) if len(ends) else ends
    if not len(data):
        return empty()[:0]
    if not len(ends) or ends[-1] != len(data) - 1 or (ends - starts).max() >= _LONGEST:
        raise ValueError("a number is cut off")
    place = np.arange(len(data)) - np.repeat(starts, ends - starts + 1)
    coded = np.add.reduceat((data & 127).astype(np.int64) << 7 * place, starts)
    return (coded >> 1) ^ -(coded & 1)


def _spread(numbers: Counts) -> Counts:
    """Counts in their slots."""
    wide = np.where(numbers < 0, -numbers, 1)
    slots = np.cumsum(wide) - wide
    counted = numbers > 0
    if len(numbers) and slots[-1] >= _SLOTS:
        raise ValueError("more slots than values have")
    counts = empty()
    counts[slots[counted]] = numbers[counted]
    return counts


def quantile(counts: Counts, percent: float) -> int:
    """Largest value of the slot below or in which that share of the counts lies.

    Of the rank that HdrHistogram 2.2.2 takes for the injector's own summary (`getValueAtPercentile`): the ceiling,
    below which no smaller share of the counts lies.
    """
    wanted = max(math.ceil(math.nextafter(percent, 0) * int(counts.sum()) / 100), 1)
    return int(HIGH[np.searchsorted(np.cumsum(counts), wanted)])
