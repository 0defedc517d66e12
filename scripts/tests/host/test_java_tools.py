# SPDX-License-Identifier: Apache-2.0
"""Finding JDKs and Maven, with the ways in which it goes wrong."""

import os
from pathlib import Path

import pytest
from waiting import TINY

from steelyard.errors import MissingRequirement
from steelyard.host import java as java_module
from steelyard.host.java import Jdk, find_hotspot, find_jdk, find_maven, identify, require_javac

RECORDED = Path(__file__).parents[1] / "fixtures" / "jvm"


def fake(path: Path, script: str) -> Path:
    """A program that only answers as the real one would."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def recorded_jvm(home: Path, name: str, feature: int | None = None) -> Path:
    """A home whose `java` says what a real JVM said; optionally of another release."""
    text = (RECORDED / f"{name}.txt").read_text(encoding="utf-8")
    if feature is not None:
        text = text.replace("java.specification.version = 17", f"java.specification.version = {feature}")
    said = home / "said.txt"
    said.parent.mkdir(parents=True)
    said.write_text(text, encoding="utf-8")
    fake(home / "bin" / "java", f'cat "{said}" >&2')
    return home


@pytest.fixture(autouse=True)
def usual_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Only what a test puts there is found in the usual folders."""
    folder = tmp_path / "jvms"
    folder.mkdir()
    monkeypatch.setattr(java_module, "USUAL_FOLDERS", (folder,))
    return folder


def test_the_real_jdk_of_this_host() -> None:
    jdk = find_jdk()
    assert jdk.identity.feature >= 17
    assert jdk.home.is_dir()
    assert require_javac(jdk).is_file()
    assert find_jdk(jdk.home).identity == find_jdk(jdk.home / "bin" / "java").identity == jdk.identity


def test_chosen_then_java_home_then_path(tmp_path: Path) -> None:
    homes = {name: recorded_jvm(tmp_path / name, "hotspot") for name in ("chosen", "home", "path")}
    environment = {"JAVA_HOME": str(homes["home"]), "PATH": f"{homes['path']}/bin:/usr/bin:/bin"}
    assert find_jdk(homes["chosen"], environment=environment).java == homes["chosen"] / "bin/java"
    assert find_jdk(environment=environment).java == homes["home"] / "bin/java"
    del environment["JAVA_HOME"]
    assert find_jdk(environment=environment).java == homes["path"] / "bin/java"


def test_none_at_all() -> None:
    with pytest.raises(MissingRequirement, match=r"no JDK was found.*apt install.*dnf install"):
        find_jdk(environment={"PATH": ""})


def test_a_folder_without_java(tmp_path: Path) -> None:
    with pytest.raises(
        MissingRequirement, match=r"--jdk names .*neither a JDK's home nor its java.*apt install"
    ):
        find_jdk(tmp_path)


def test_java_home_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(MissingRequirement, match="JAVA_HOME names"):
        find_jdk(environment={"JAVA_HOME": str(tmp_path / "gone"), "PATH": os.environ["PATH"]})


def test_too_old(tmp_path: Path) -> None:
    home = recorded_jvm(tmp_path / "old", "hotspot", feature=11)
    with pytest.raises(
        MissingRequirement, match=r"--jdk is Java 11 .* needs 17 or newer: .*apt install.*dnf install"
    ):
        find_jdk(home)


def test_dies_at_start_and_is_quoted(tmp_path: Path) -> None:
    dying = fake(tmp_path / "bin" / "java", 'echo; echo "Error: could not find libjvm.so" >&2; exit 1')
    with pytest.raises(MissingRequirement, match=r'dies at start \("Error: could not find libjvm\.so"\)'):
        find_jdk(dying)
    silent = fake(tmp_path / "silent", "exit 7")
    with pytest.raises(MissingRequirement, match="exit status 7"):
        find_jdk(silent)


def test_a_real_jvm_that_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    jdk = find_jdk()
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:NoSuchOption=1")
    with pytest.raises(MissingRequirement, match=r'dies at start \(".*"\)'):
        identify(jdk.java)


def test_something_else_than_a_jvm(tmp_path: Path) -> None:
    with pytest.raises(MissingRequirement, match="not a JDK that Steelyard knows"):
        find_jdk(fake(tmp_path / "java", "echo hello"))
    broken = tmp_path / "garbage"
    broken.write_bytes(b"\x7fELF garbage")
    broken.chmod(0o755)
    with pytest.raises(MissingRequirement, match="cannot be started"):
        find_jdk(broken)


def test_does_not_answer(tmp_path: Path) -> None:
    with pytest.raises(MissingRequirement, match=f"did not say its version within {TINY} s"):
        identify(fake(tmp_path / "java", "exec sleep 600"), timeout=TINY)


def test_hotspot_for_the_injectors_is_the_servers_own_when_it_is_one(tmp_path: Path) -> None:
    jdk = find_jdk(recorded_jvm(tmp_path / "a", "hotspot"))
    assert find_hotspot(jdk, environment={}) is jdk


def test_hotspot_beside_openj9(tmp_path: Path, usual_folders: Path) -> None:
    openj9 = find_jdk(recorded_jvm(tmp_path / "a", "openj9"))
    assert openj9.identity.kind == "openj9"
    with pytest.raises(
        MissingRequirement, match="Eclipse OpenJ9 VM, and the injectors need a HotSpot JVM 17"
    ):
        find_hotspot(openj9, environment={"PATH": ""})
    recorded_jvm(usual_folders / "z-openj9", "openj9")
    fake(usual_folders / "y-broken" / "bin" / "java", "exit 1")
    recorded_jvm(usual_folders / "x-old", "hotspot", feature=11)
    good = recorded_jvm(usual_folders / "a-good", "hotspot")
    assert find_hotspot(openj9, environment={"PATH": ""}).java == good / "bin/java"


def test_runtime_without_a_compiler(tmp_path: Path) -> None:
    real = find_jdk()
    runtime = Jdk(real.java, real.identity.model_copy(update={"home": str(tmp_path)}))
    assert runtime.javac is None
    with pytest.raises(MissingRequirement, match=r"without a compiler.*apt install"):
        require_javac(runtime)


def test_the_real_maven_of_this_host() -> None:
    assert find_maven(find_jdk().home).name == "mvn"


def test_maven_missing() -> None:
    with pytest.raises(
        MissingRequirement, match=r"Maven was not found.*apt install maven.*dnf install maven"
    ):
        find_maven(Path("unused"), {"PATH": ""})


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ('echo "Apache Maven 3.6.3 (x)"', r"is Maven 3\.6\.3 .* needs 3\.8 or newer: .*apt install maven"),
        (
            'echo "The JAVA_HOME is wrong" >&2; exit 1',
            r'does not tell its version \("The JAVA_HOME is wrong"\)',
        ),
    ],
)
def test_maven_that_will_not_do(tmp_path: Path, script: str, message: str) -> None:
    fake(tmp_path / "mvn", script)
    with pytest.raises(MissingRequirement, match=message):
        find_maven(tmp_path, {"PATH": str(tmp_path)})


def test_maven_in_colours_and_release_candidates(tmp_path: Path) -> None:
    fake(tmp_path / "mvn", r"printf '\033[1mApache Maven 4.0.0-rc-4 (abc)\033[m\n'")
    assert find_maven(tmp_path, {"PATH": str(tmp_path)}) == tmp_path / "mvn"
