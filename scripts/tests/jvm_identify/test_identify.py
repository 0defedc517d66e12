# SPDX-License-Identifier: Apache-2.0
"""What JVMs say of themselves, recorded from real ones."""

from pathlib import Path

import pytest

from steelyard.jvm.identity import parse_identity

RECORDED = Path(__file__).parents[1] / "fixtures" / "jvm"


def recorded(name: str) -> str:
    return (RECORDED / f"{name}.txt").read_text(encoding="utf-8")


def test_hotspot() -> None:
    identity = parse_identity(recorded("hotspot"))
    assert identity.kind == "hotspot"
    assert identity.vm_name == "OpenJDK 64-Bit Server VM"
    assert identity.vm_version == identity.runtime_version == "17.0.15+6-Debian-1deb12u1"
    assert (identity.java_version, identity.feature, identity.vendor) == ("17.0.15", 17, "Debian")
    assert identity.home == "/usr/lib/jvm/java-17-openjdk-amd64"
    assert identity.architecture == "amd64"


def test_openj9_whose_build_lines_stand_between_the_properties() -> None:
    identity = parse_identity(recorded("openj9"))
    assert identity.kind == "openj9"
    assert identity.vm_version == "21.0.13-internal-adhoc.root.jdk21-HEAD-d042003f17"
    assert (identity.feature, identity.vendor) == (21, "Eclipse OpenJ9")
    assert identity.home == "/opt/java/openjdk"


def test_a_build_tells_which_collectors_it_has() -> None:
    def flags(*names: str) -> str:
        return "".join(f"     bool {name:<40} = false   {{product}} {{default}}\n" for name in names)

    assert parse_identity(recorded("hotspot")).collectors is None
    own = flags("UseZGC", "UseShenandoahGC", "ZFragmentationLimit")
    assert parse_identity(recorded("hotspot") + own).collectors == ("z",)
    more = flags("ShenandoahGCHeuristics")
    assert parse_identity(recorded("hotspot") + own + more).collectors == ("z", "shenandoah")
    assert parse_identity(recorded("openj9") + flags("MaxHeapSize")).collectors is None


def test_old_numbering() -> None:
    text = recorded("hotspot").replace("java.specification.version = 17", "java.specification.version = 1.8")
    assert parse_identity(text).feature == 8


def test_oracles_name_for_hotspot() -> None:
    text = recorded("hotspot").replace("OpenJDK 64-Bit", "Java HotSpot(TM) 64-Bit")
    assert parse_identity(text).kind == "hotspot"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "java.vm.name"),
        ("GNU bash, version 5.2", "java.vm.name"),
        (
            recorded("hotspot").replace("OpenJDK 64-Bit Server VM", "Substrate VM"),
            "neither HotSpot nor OpenJ9",
        ),
        (recorded("hotspot").replace("    java.home =", "    home ="), "java.home"),
        (recorded("hotspot").replace("specification.version = 17", "specification.version = x"), "'x'"),
    ],
)
def test_something_else(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_identity(text)
