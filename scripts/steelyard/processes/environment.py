# SPDX-License-Identifier: Apache-2.0
"""The environment of everything that is started here: one language, whatever that of the user's session is.

What programs print is read by parsers. Under `de_DE.UTF-8` a HotSpot JVM writes `7,278ms`, git and the tools of the
system translate their errors, and under `C` a JVM cannot open a path that is not ASCII: OpenJDK 17 and newer abort.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence

LANGUAGE = "C.UTF-8"
"""Part of glibc since 2.35, and of Debian's and Red Hat's older ones; musl has no other."""
_OF_THE_LANGUAGE = ("LANG", "LANGUAGE")


def child_environment(source: Mapping[str, str] = os.environ, **changes: str) -> dict[str, str]:
    """An environment in `LANGUAGE`, with nothing else that names a language.

    Args:
        source: what else it holds.
        changes: variables to set on top.
    """
    kept = {
        name: text
        for name, text in source.items()
        if name not in _OF_THE_LANGUAGE and not name.startswith("LC_")
    }
    return {**kept, "LC_ALL": LANGUAGE, **changes}


def ask(
    command: Sequence[str], timeout: float | None = None, environment: Mapping[str, str] = os.environ
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end for what it prints (raises OSError, and TimeoutExpired after so many seconds)."""
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
        check=False,
        env=child_environment(environment),
    )
