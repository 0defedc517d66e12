# SPDX-License-Identifier: Apache-2.0
"""`python -m steelyard`."""

import sys

from steelyard.errors import Exit

try:
    from steelyard.cli.app import main
except Exception as error:  # Python itself would end with 1, which is the gate's
    sys.stderr.write(
        f"steelyard: the Python environment is damaged ({error!r}): remove .steelyard/venv, try again\n"
    )
    sys.exit(Exit.ENVIRONMENT)

main()
