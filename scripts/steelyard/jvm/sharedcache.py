# SPDX-License-Identifier: Apache-2.0
"""What OpenJ9 says of a shared class cache: the output of `-Xshareclasses:...,printStats` (pure)."""

import re
from collections.abc import Mapping

CACHE_FIGURES: Mapping[str, str] = {
    "class_cache_size": "cache size",
    "class_cache_free": "free bytes",
    "class_cache_classes": "ROMClass bytes",
    "class_cache_aot": "AOT bytes",
}
"""Figures in bytes, beside a server's settings, and as OpenJ9 calls them."""
_LINE = re.compile(r"^(.+?) += ([0-9]+)$", re.MULTILINE)


def cache_figures(printed: str) -> dict[str, int | str]:
    """The figures; none of a text that has no statistics in it."""
    told = dict(_LINE.findall(printed[: printed.rfind("\n") + 1]))  # a last line may have been cut off
    return {name: int(told[label]) for name, label in CACHE_FIGURES.items() if label in told}
