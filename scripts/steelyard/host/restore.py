# SPDX-License-Identifier: Apache-2.0
"""`python -m steelyard.host.restore [ROOT]`: puts back the host states of a session that was killed.

The guard process runs it; it does nothing when there is nothing to put back, or when the session stays alive.
"""

import sys
import time
from pathlib import Path

from steelyard.errors import Exit, SteelyardError
from steelyard.host.switching import put_back, recorded
from steelyard.host.system import System

DYING = 10.0
"""Seconds: a killed process closes the guard's pipe before it is gone."""


def main() -> int:
    """Put back, and say what was."""
    system = System(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("/"))
    deadline = time.monotonic() + DYING
    try:
        while (found := recorded(system)) is not None and found.alive() and time.monotonic() < deadline:
            time.sleep(0.02)
        sentences = put_back(system)
    except SteelyardError as error:
        sys.stderr.write(f"steelyard: {error}\n")
        return error.exit_code
    sys.stdout.writelines(f"{sentence}\n" for sentence in sentences)
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
