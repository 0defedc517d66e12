# SPDX-License-Identifier: Apache-2.0
"""The first process of the base `postgresql`, with PostgreSQL's programs made up."""

import subprocess
from pathlib import Path

import pytest

from steelyard.paths import ROOT

ENTRY = ROOT / "images" / "local" / "postgresql-entry.sh"
PROGRAM = """#!/bin/sh
echo "$(basename "$0") $*" >>"$CALLS"
case $(basename "$0") in
    id) echo 999 ;;
    initdb)
        for word in "$@"; do case $word in --pwfile=*) cat "${word#*=}" >"$CALLS.password" ;; esac; done
        echo 17 >"$PGDATA/PG_VERSION"
        ;;
    psql) cat >>"$CALLS" ;;
esac
"""


class Entry:
    """Runs it in a folder of the test."""

    def __init__(self, folder: Path) -> None:
        self.data, self._calls, self._programs = folder / "data", folder / "calls", folder / "bin"
        self._programs.mkdir()
        for name in ("id", "initdb", "pg_ctl", "postgres", "psql"):
            (self._programs / name).write_text(PROGRAM, encoding="utf-8")
            (self._programs / name).chmod(0o755)

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        self._calls.unlink(missing_ok=True)
        path = {
            "PATH": f"{self._programs}:/usr/bin:/bin",
            "CALLS": str(self._calls),
            "PGDATA": str(self.data),
        }
        return subprocess.run(
            ["sh", str(ENTRY), *command], env=path | environment, capture_output=True, text=True, check=False
        )

    @property
    def calls(self) -> list[str]:
        return self._calls.read_text(encoding="utf-8").splitlines()

    @property
    def password(self) -> str:
        return self._calls.with_name("calls.password").read_text(encoding="utf-8")


@pytest.fixture
def entry(tmp_path: Path) -> Entry:
    return Entry(tmp_path)


def test_it_makes_the_database_once(entry: Entry, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("from a file\n", encoding="utf-8")
    given = {
        "POSTGRES_USER": "someone",
        "POSTGRES_DB": "data",
        "POSTGRES_PASSWORD_FILE": str(tmp_path / "password"),
        "POSTGRES_INITDB_ARGS": "--encoding=UTF8 --lc-collate=C",
    }
    assert entry.run("postgres", "-c", "shared_buffers=1MB", **given).returncode == 0
    _, initdb, start, psql, statement, stop, postgres = entry.calls
    assert initdb.startswith("initdb --username=someone --pwfile=")
    assert initdb.endswith(" --encoding=UTF8 --lc-collate=C")
    assert entry.password == "from a file\n"
    assert "listen_addresses=''" in start, "nobody outside reaches it before it is complete"
    assert psql.endswith("--set=name=data")
    assert statement == 'CREATE DATABASE :"name";'
    assert stop.endswith("stop")
    assert postgres == "postgres -c shared_buffers=1MB"
    assert "host all all all scram-sha-256" in (entry.data / "pg_hba.conf").read_text(encoding="utf-8")

    assert entry.run("-c", "shared_buffers=1MB", **given).returncode == 0
    assert entry.calls == ["id -u", "postgres -c shared_buffers=1MB"]


def test_without_a_password_nothing_is_made(entry: Entry) -> None:
    done = entry.run("postgres")
    assert done.returncode == 1
    assert "there is no password" in done.stderr
    assert entry.calls == ["id -u"]


def test_another_command_is_carried_out_as_it_is(entry: Entry) -> None:
    assert entry.run("echo", "as it is").stdout == "as it is\n"
    assert not entry.data.exists()
