# SPDX-License-Identifier: Apache-2.0
"""Bases where a mirror's package lists are not what its release promises; apt and the engine are made up."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.paths import ROOT

LOCAL = ROOT / "images" / "local"
BOTH = "linux/amd64,linux/ppc64le"
REASON = "apt could not verify trixie's list for ppc64el"
# A release with its updates for every architecture; $STALE names the lists (ARCHITECTURE:RELEASE) that differ from it,
# $LACKING the architectures whose packages the mirror does not have.
APT = """#!/bin/sh
for word in "$@"; do
    case $word in
        APT::Architecture=*) architecture=${word#*=} ;;
        Dir::State=*) lists=${word#*=}/lists ;;
    esac
done
case " $* " in
    *" indextargets "*) printf 'Debian|%s|http://mirror.example/debian|main\\n' trixie trixie-updates ;;
    *" update "*)
        code=0
        for release in trixie trixie-updates; do
            list=$lists/mirror.example_debian_dists_${release}_main_binary-${architecture}_Packages
            rm -f "$list"
            case " $STALE " in *" $architecture:$release "*) code=100 ;; *) : >"$list" ;; esac
        done
        [ "$code" = 0 ] || echo "E: Some index files failed to download." >&2
        exit "$code"
        ;;
    *" install "*)
        ls "$lists"/*_dists_trixie_main_* >/dev/null 2>&1 || { echo "E: Unable to locate package libc6" >&2; exit 100; }
        echo "Inst libc6 (2.41-1 Debian:13/stable [$architecture])"
        ;;
    *" download "*)
        case " $LACKING " in *" $architecture "*) echo "E: Failed to fetch libc6: 404  Not Found" >&2; exit 100 ;; esac
        : >"libc6_2.41-1_$architecture.deb"
        ;;
esac
"""
DOCKER = """#!/bin/sh
case "$*" in
    *"buildx build"*) { echo "$*"; cat; } >"$ASKED" ;;
    *"imagetools create"*) echo "$*" >>"$ASKED" ;;
    *) exit 1 ;;
esac
"""
# What is below the packages is left to the real bases of the container stage.
MAKE = """set -eu
registry=r/bases push=yes suite=trixie native=amd64 java=21
say() { printf 'bases: %s\\n' "$*"; }
fail() { code=$1; shift; printf 'make-bases: %s\\n' "$*" >&2; exit "$code"; }
. "$here/base-packages.sh"
. "$here/base-roots.sh"
native_busybox() { :; }
unpack() { echo "$2" >"$1/architecture"; }
finish_root() { :; }
finish_python() { :; }
make_base harness
"""


class Made:
    """The end of a run, and what it left."""

    def __init__(self, done: subprocess.CompletedProcess[str], work: Path) -> None:
        self.code, self.said = done.returncode, done.stdout + done.stderr
        asked, note = work / "asked", work / "roots" / "harness.without"
        self.asked = asked.read_text(encoding="utf-8") if asked.exists() else ""
        self.note = note.read_text(encoding="utf-8") if note.exists() else ""


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Made]:
    """The base `harness` with some lists stale; `incomplete` is the option -i."""
    for name, text in (("apt-get", APT), ("docker", DOCKER)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)

    def run(*stale: str, lacking: str = "", incomplete: bool = True, platforms: str = BOTH) -> Made:
        (tmp_path / "asked").unlink(missing_ok=True)
        variables = {
            "PATH": f"{tmp_path}:/usr/sbin:/usr/bin:/sbin:/bin",
            "ASKED": str(tmp_path / "asked"),
            "STALE": " ".join(stale),
            "LACKING": lacking,
            "here": str(LOCAL),
            "work": str(tmp_path),
            "platforms": platforms,
            "incomplete": "yes" if incomplete else "no",
        }
        done = subprocess.run(
            ["sh", "-c", MAKE],
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return Made(done, tmp_path)

    return run


def test_a_base_is_made_without_the_platform_whose_list_is_not_to_be_had(make: Callable[..., Made]) -> None:
    made = make("ppc64el:trixie")
    assert made.code == 0, made.said
    assert f"bases: harness: WITHOUT linux/ppc64le - {REASON}" in made.said
    assert "--platform linux/amd64 " in made.asked
    # Else it would be taken for the other platform as well.
    assert made.asked.endswith("imagetools create --tag r/bases/harness:trixie r/bases/harness:trixie\n")
    assert 'dev.steelyard.base.left-out="ppc64el:trixie"' in made.asked
    assert made.note == f"linux/ppc64le {REASON}\n"


def test_a_later_run_has_the_platform_again_and_loses_one_that_was_there(make: Callable[..., Made]) -> None:
    for _ in range(2):
        assert make("ppc64el:trixie").note
        made = make()
        assert made.code == 0, made.said
        assert f"--platform {BOTH} " in made.asked
        assert 'dev.steelyard.base.left-out=""' in made.asked
        assert not made.note


def test_a_base_is_made_without_the_platform_whose_packages_are_not_to_be_had(
    make: Callable[..., Made],
) -> None:
    made = make(lacking="ppc64el")
    assert made.code == 0, made.said
    assert "404  Not Found" in made.said
    assert made.note == "linux/ppc64le the mirror lacks packages that trixie's list for ppc64el names\n"
    assert "--platform linux/amd64 " in made.asked
    assert make(lacking="ppc64el", incomplete=False).code == 3


def test_this_machine_s_own_packages_are_needed(make: Callable[..., Made]) -> None:
    assert make(lacking="amd64").code == 3


def test_without_the_lists_of_updates_every_platform_is_made_and_the_label_says_so(
    make: Callable[..., Made],
) -> None:
    made = make("ppc64el:trixie-updates", "amd64:trixie-updates")
    assert made.code == 0, made.said
    assert f"--platform {BOTH} " in made.asked
    assert 'dev.steelyard.base.left-out="amd64:trixie-updates ppc64el:trixie-updates"' in made.asked
    assert not made.note


def test_the_label_names_no_list_of_another_release(make: Callable[..., Made], tmp_path: Path) -> None:
    for other in ("bookworm-ppc64el", "trixie-arm64"):
        (tmp_path / "apt" / other).mkdir(parents=True)
        (tmp_path / "apt" / other / "left-out").write_text("arch:release\n", encoding="utf-8")
    assert 'dev.steelyard.base.left-out=""' in make().asked


@pytest.mark.parametrize(
    ("stale", "options", "why"),
    [
        ("ppc64el:trixie", {"incomplete": False}, "apt could not verify every package list for ppc64el"),
        ("amd64:trixie", {}, "trixie's list for amd64, the architecture of this machine"),
        ("ppc64el:trixie", {"platforms": "linux/ppc64le"}, "no platform is left of harness"),
    ],
)
def test_what_stays_an_error(
    make: Callable[..., Made], stale: str, options: dict[str, object], why: str
) -> None:
    made = make(stale, **options)
    assert made.code == 3, made.said
    assert why in made.said
    assert not made.asked
