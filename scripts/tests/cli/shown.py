# SPDX-License-Identifier: Apache-2.0
"""A session and a trial that the screens show."""

from builders import make_failure, make_trial
from planned import question, session_of, specs_of

from steelyard.results.schema import Check, Session, Trial


def quick_session() -> Session:
    """Two arms in three blocks."""
    found = question("jvm-count", quick=True)
    return session_of(found, specs_of(found), blocks=3)


def failed_trial() -> Trial:
    check = Check(
        name="restarts", passed=False, voids=True, value=1, limit=0, unit="", detail="server-1 died"
    )
    return make_trial(
        arm="jvms-2",
        state="void",
        phases={"start": (0.0, 10.0), "measure": (10.0, 20.0)},
        measurement=None,
        checks=[check],
        steady=False,
        failure=make_failure("server-1 died"),
    )
