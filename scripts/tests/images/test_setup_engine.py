# SPDX-License-Identifier: Apache-2.0
"""`setup-engine.sh` as root in a checkout that is not root's. Nothing is installed, no engine starts."""

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from steelyard.paths import ROOT

SCRIPTS = (".github/scripts/tools.sh", "images/local/setup-engine.sh")
# The kernel: registers what is written to `register`, and forgets a machine to which -1 is written.
TEE = """#!/bin/sh
line=$(cat)
case $1 in
*/register) echo "flags: ${line##*:}" >"$(dirname "$1")/$(echo "$line" | cut -d : -f 2)" ;;
*) rm "$1" ;;
esac
"""
FOREIGN = sorted({"ppc64le", "aarch64"} - {platform.machine()})


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The two scripts, with a kernel and a package of files; Ubuntu has registered emulators without the flags."""
    kernel, package, checkout = (tmp_path / name for name in ("kernel", "package", "checkout"))
    for folder in (kernel, package, tmp_path / "bin"):
        folder.mkdir()
    for machine in ("ppc64le", "aarch64"):
        (package / f"qemu-{machine}.conf").write_text(f":qemu-{machine}:M::\\x7f:\\xff:/usr/bin/qemu:F")
        (kernel / f"qemu-{machine}").write_text("flags: F\n")
    (kernel / "register").touch()
    for name, text in (("sudo", '#!/bin/sh\n"$@"\n'), ("apt-get", "#!/bin/sh\n"), ("tee", TEE)):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    for name in SCRIPTS:
        (checkout / name).parent.mkdir(parents=True)
        text = (ROOT / name).read_text(encoding="utf-8")
        text = text.replace("/proc/sys/fs/binfmt_misc", str(kernel)).replace(
            "/usr/lib/binfmt.d", str(package)
        )
        # `start` goes as far as its folder.
        text = text.replace("\n    install_packages\n", "\n    exit 0\n")
        (checkout / name).write_text(text, encoding="utf-8")
        shutil.copymode(ROOT / name, checkout / name)
    return checkout


def run(checkout: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=checkout,
        env={**os.environ, "PATH": f"{checkout.parent / 'bin'}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_emulation_is_registered_and_leaves_the_checkout_as_it_is(checkout: Path) -> None:
    done = run(checkout, SCRIPTS[0], "emulation")
    assert done.returncode == 0, done.stderr
    for machine in FOREIGN:
        assert (checkout.parent / "kernel" / f"qemu-{machine}").read_text(encoding="utf-8") == "flags: OPF\n"
    assert not (checkout / ".steelyard").exists()


@pytest.mark.parametrize(
    ("javac", "has_17", "installed"),
    [
        ("echo javac 21.0.2", True, []),
        ("echo javac 17", True, []),
        ("echo javac 11.0.22", True, ["openjdk-17-jdk-headless", "maven"]),
        ("echo javac 1.8.0_402 >&2", False, ["default-jdk-headless", "maven"]),
        ("exit 127", False, ["default-jdk-headless", "maven"]),
    ],
)
def test_a_runner_gets_a_jdk_of_17_or_newer(
    checkout: Path, javac: str, has_17: bool, installed: list[str]
) -> None:
    """Debian 13 has none of 17: its default is newer."""
    apt = f'case "$*" in *openjdk-17*) {"true" if has_17 else "exit 100"};; esac\n'
    apt += f"for last; do :; done\n[ $1 = update ] || echo $last >>{checkout.parent}/installed\n"
    for name, text in (("javac", javac), ("mvn", "exit 0"), ("apt-get", apt)):
        (checkout.parent / "bin" / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (checkout.parent / "bin" / name).chmod(0o755)
    done = run(checkout, SCRIPTS[0], "java")
    assert done.returncode == 0, done.stderr
    got = checkout.parent / "installed"
    assert (got.read_text(encoding="utf-8").split() if got.exists() else []) == installed


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of others")
def test_the_folder_of_an_engine_leaves_the_checkout_s_own_folder_to_its_owner(checkout: Path) -> None:
    os.chown(checkout, 4321, 4321)
    done = run(checkout, SCRIPTS[1], "start")
    assert done.returncode == 0, done.stderr
    assert (checkout / ".steelyard").stat().st_uid == 4321
    assert (checkout / ".steelyard" / "engine").stat().st_uid == 0
