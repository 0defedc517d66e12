# SPDX-License-Identifier: Apache-2.0
"""`python -m steelyard.host.restore [ROOT [PID STARTED]]`: puts back the host states of a session that is over.

The guard process runs it, with the process that it guarded; it does nothing when there is nothing to put back, or when
another session that is alive has set them.
"""

import sys
from pathlib import Path

from steelyard.errors import Exit, SteelyardError
from steelyard.host.switching import put_back
from steelyard.host.system import System


def main(arguments: list[str]) -> int:
    """Put back, and say what was."""
    root, *over = arguments or ["/"]
    try:
        sentences = put_back(System(Path(root)), (int(over[0]), int(over[1])) if over else None)
    except SteelyardError as error:
        sys.stderr.write(f"steelyard: {error}\n")
        return error.exit_code
    sys.stdout.writelines(f"{sentence}\n" for sentence in sentences)
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
