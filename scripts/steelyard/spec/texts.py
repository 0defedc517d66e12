# SPDX-License-Identifier: Apache-2.0
"""`${name}` in the texts of a workload file."""

import re
from collections.abc import Mapping

from steelyard.errors import BadInput

_NAME = re.compile(r"\$\{([A-Za-z][\w.-]*)\}")
LATER = frozenset({"folder", "package", "java", "cache"})
"""Places that only the engine knows; they stay as they are."""


def fill(text: str, values: Mapping[str, object], where: str, later: frozenset[str] = LATER) -> str:
    """The text with every `${name}` replaced, but for names that stand for something `later`.

    Raises:
        BadInput: a name that stands for nothing; the sentence says `where`.
    """

    def one(match: re.Match[str]) -> str:
        name = match[1]
        if name in later:
            return match[0]
        if name not in values:
            raise BadInput(f"{where}: ${{{name}}} stands for nothing: there are {', '.join(sorted(values))}")
        return str(values[name])

    return _NAME.sub(one, text)


def fill_value(value: object, values: Mapping[str, object], where: str) -> object:
    """The same for a value that may be no text; one that is nothing but `${name}` keeps its type."""
    if not isinstance(value, str):
        return value
    whole = _NAME.fullmatch(value)
    if whole and whole[1] in values:
        return values[whole[1]]
    return fill(value, values, where)
