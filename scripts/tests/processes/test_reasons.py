# SPDX-License-Identifier: Apache-2.0
"""Why a program ended, by what it printed."""

from pathlib import Path

import pytest

from steelyard.processes import Children
from steelyard.processes.reasons import READ, read_log, reason

STACK = "\n".join(f"\tat com.example.Frame{number}.run(Frame.java:{number})" for number in range(30))


@pytest.mark.parametrize(
    ("printed", "says"),
    [
        ("", ""),
        ("\n \n---\n", ""),
        ("no licence file\n", "no licence file"),
        ("no licence file\nbye\n", "no licence file | bye"),
        # None is marked: the first line, which the last three of a stack had hidden.
        (
            "the reason: no licence file\n" + "".join(f"frame {n}\n" for n in range(9)),
            "the reason: no licence file ... frame 8",
        ),
        (
            f'Starting\nException in thread "main" java.lang.IllegalStateException: no licence\n{STACK}\n',
            'Exception in thread "main" java.lang.IllegalStateException: no licence',
        ),
        # The JVM's own frame stands around its reason.
        (
            (
                "Unrecognized VM option 'UseFoo'\nError: Could not create the Java Virtual Machine.\n"
                "Error: A fatal exception has occurred. Program will exit.\n"
            ),
            "Unrecognized VM option 'UseFoo'",
        ),
        (
            (
                "Error occurred during initialization of VM\nInitial heap size set to a larger value than the maximum"
                " heap size\n"
            ),
            "Initial heap size set to a larger value than the maximum heap size",
        ),
        (
            "JVMJ9VM007E Command-line option unrecognised: -Xfoo\nError: Could not create the Java Virtual Machine.\n",
            "JVMJ9VM007E Command-line option unrecognised: -Xfoo",
        ),
        (
            (
                'Traceback (most recent call last):\n  File "app.py", line 1, in <module>\n    import nothing\n'
                "ModuleNotFoundError: No module named 'nothing'\n"
            ),
            "ModuleNotFoundError: No module named 'nothing'",
        ),
        (
            (
                "node:internal/modules/cjs/loader:1080\n  throw err;\n  ^\n\nError: Cannot find module '/app/x.js'\n"
                "    at Module._resolveFilename (node:internal/modules/cjs/loader:1077:15)\n"
            ),
            "Error: Cannot find module '/app/x.js'",
        ),
        (
            "nginx: [warn] odd\nnginx: [emerg] bind() to 0.0.0.0:80 failed (13: Permission denied)\nbye\n",
            "nginx: [emerg] bind() to 0.0.0.0:80 failed (13: Permission denied)",
        ),
        (
            "[AUDIT   ] CWWKE0001I: launched\n\x1b[31m[ERROR   ] CWWKF0042E: no such feature\x1b[0m\n[AUDIT] off\n",
            "[ERROR ] CWWKF0042E: no such feature",
        ),
        (
            "load of 5 users\nTerminating due to java.lang.OutOfMemoryError: Java heap space\n",
            "Terminating due to java.lang.OutOfMemoryError: Java heap space",
        ),
        # No error, though the word is in it.
        ("0 errors\n-XX:+ExitOnOutOfMemoryError\nRuntimeErrorHandler\n", "0 errors ... RuntimeErrorHandler"),
    ],
)
def test_the_line_that_says_why(printed: str, says: str) -> None:
    assert reason(printed) == says


def test_a_child_that_failed_is_told_with_its_reason_and_the_file(tmp_path: Path) -> None:
    script = "echo the reason: no licence file; for i in 0 1 2 3 4 5 6 7 8; do echo frame $i; done; exit 3"
    log = tmp_path / "console.log"
    with Children() as children:
        child = children.spawn("server", ["sh", "-c", script], console=log, cwd=tmp_path)
        child.process.wait()
        assert child.describe_end() == (
            f"server ended with exit code 3 after printing: the reason: no licence file ... frame 8: see {log}"
        )


def test_of_a_long_log_the_beginning_and_the_end_are_read(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("first\n" + "x\n" * (2 * READ) + "last\n", encoding="utf-8")
    found = read_log(log)
    assert found.startswith("first\n")
    assert found.endswith("last\n")
    assert len(found) == 2 * READ + 1
    log.write_text("first\n" + "x" * READ + "\nlast\n", encoding="utf-8")
    assert read_log(log).splitlines()[0] == "first"
    assert read_log(log).splitlines()[-1] == "last"
    assert read_log(tmp_path / "none") == ""
