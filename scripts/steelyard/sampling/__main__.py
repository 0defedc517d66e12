# SPDX-License-Identifier: Apache-2.0
"""`python -m steelyard.sampling CONFIG.json`: sample until SIGTERM or SIGINT, or until the parent is gone."""

import os
import resource
import signal
import sys
from pathlib import Path

from steelyard.errors import Exit
from steelyard.sampling.sampler import Sampler


def main(arguments: list[str]) -> int:
    """Run the sampler; its exit code is one of `Exit`."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m steelyard.sampling CONFIG.json\n")
        return Exit.USAGE
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)  # the wake-up file ends the wait; nothing is cut short
    _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
    try:
        sampler = Sampler(Path(arguments[0]), wake)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"sampler: cannot start: {error}\n")
        return Exit.BAD_INPUT
    try:
        sampler.run()
    except OSError as error:
        sys.stderr.write(f"sampler: cannot write its samples: {error}\n")
        return Exit.NO_SPACE
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
