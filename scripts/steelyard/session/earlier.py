# SPDX-License-Identifier: Apache-2.0
"""Sessions of a folder that may tell of one to come: analysed, of the same workload, on this host."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from steelyard.errors import SteelyardError
from steelyard.host.facts import is_same_host, read_facts
from steelyard.results.analysis import Analysis
from steelyard.results.schema import Session
from steelyard.results.store import SessionDirectory
from steelyard.workload.schema import Workload

Earlier = tuple[Session, Analysis, SessionDirectory]
"""An earlier session here, with where it lies."""


def sessions_here(workload: Workload, results: Path) -> Iterator[Earlier]:
    """Those with the same version of a workload, in no order; they have arms, one of them the baseline."""
    host = read_facts()
    for path in results.glob("*/analysis.json"):
        # What another version or an editor left there is passed over, whatever is wrong with it.
        with suppress(SteelyardError, LookupError, TypeError, ValueError):
            directory = SessionDirectory(path.parent)
            session, analysis = directory.session(), directory.analysis()
            if (
                is_same_host(session.host, host)
                and (session.workload.name, session.workload.version) == (workload.name, workload.version)
                and analysis.session_id == session.id
                and any(arm.baseline for arm in session.arms)
            ):
                yield session, analysis, directory
