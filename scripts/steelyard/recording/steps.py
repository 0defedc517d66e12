# SPDX-License-Identifier: Apache-2.0
"""Steps as a workload file has them, each below what has to be said about it."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

import yaml

from steelyard.errors import one_line
from steelyard.recording.texts import REPLACEMENT, fit_for_files, is_odd

LONGEST_COMMENT = 1000
_INDENT = " " * 12


@dataclass
class StepText:
    """A step as it will be written, and what has to be said about it."""

    # As YAML has it, of many shapes.
    keys: dict[str, Any]
    comments: list[str] = field(default_factory=list)

    def note_secrets(self, names: Iterable[str]) -> None:
        """Say which fields are passwords that a person typed."""
        secrets = [name for name in names if "pass" in name.lower()]
        if secrets:
            self.comments.append(
                f"guessed: {', '.join(secrets)} was typed: a feeder can give each user its own (docs/workloads.md)"
            )

    def note_repeats(self, sent: Iterable[str], kept: Collection[str]) -> None:
        """Say which fields were sent several times, of those that a step holds once."""
        for name, count in Counter(sent).items():
            if count > 1 and name in kept:
                self.comments.append(f"guessed: {name} occurs {count} times, and is sent once, the last one")

    def lines(self) -> list[str]:
        """The step in the file, below what is said about it."""
        keys = fit_for_files(self.keys)
        written = yaml.safe_dump([keys], sort_keys=False, allow_unicode=True, width=110)
        comments = list(self.comments)
        if is_odd(written):
            comments.append(f"guessed: {REPLACEMENT} stands for characters that no workload file can hold")
        # Other line ends than this one are in quotes, and part of a value.
        return [
            *map(comment_line, comments),
            *(f"{_INDENT}{line}\n" for line in written.rstrip("\n").split("\n")),
        ]


def comment_line(text: str) -> str:
    """A comment of one line, whatever the recording put into it: the file is a program."""
    return f"{_INDENT}# {one_line(text, LONGEST_COMMENT)}\n"
