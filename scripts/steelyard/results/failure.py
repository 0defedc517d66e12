# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in a trial: whose it is, which check it fails, and what happened, in a sentence for people."""

from steelyard.results.spec import Record

NOT_STOPPED = "not-stopped"
"""Cause: it had to be killed."""


class Failure(Record):
    """Something of a trial that went wrong."""

    component: str | None
    """Whose it is, by the name in the spec (of a duet `SIDE/NAME`); None: of no single one."""
    cause: str
    """Name of the check of the ledger that it fails."""
    detail: str
    """One sentence."""

    def __str__(self) -> str:
        return self.detail
