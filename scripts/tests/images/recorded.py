# SPDX-License-Identifier: Apache-2.0
"""A client that answers as recorded: what it is asked last decides, so that tests need no registry."""

from pathlib import Path

from steelyard.host.docker import Docker

FIXTURES = Path(__file__).parents[1] / "fixtures" / "registry"


def client(folder: Path, answers: dict[str, str]) -> Docker:
    """A docker whose answer is that of the first key that its arguments hold; it fails without one."""
    cases = []
    for number, (asked, answer) in enumerate(answers.items()):
        (folder / f"answer-{number}").write_text(answer, encoding="utf-8")
        cases.append(f"*'{asked}'*) cat {folder}/answer-{number} ;;")
    program = folder / "docker"
    program.write_text(
        '#!/bin/sh\ncase "$*" in\n'
        + "\n".join(cases)
        + "\n*) echo 'ERROR: dial tcp: no such host' >&2; exit 1 ;;\nesac\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    return Docker(program, "26.1.5", "2.26.1")
