# SPDX-License-Identifier: Apache-2.0
"""Which JVM it is, from what it prints of itself (pure).

HotSpot prints the options of a collector only where its build has that collector; `UseZGC` itself is always there
(`gc_globals.hpp` of the JDK's sources). OpenJ9 prints a few options of its own, which are none of these.
"""

import re
from typing import Literal

from steelyard.documented import Documented

QUESTION = ("-XshowSettings:properties", "-XX:+PrintFlagsFinal", "-version")
"""What `java` is asked; properties come on standard error, options on standard output."""
_PROPERTY = re.compile(r"^    ([\w.]+) = (.*)$", re.MULTILINE)
_FLAG = re.compile(r"^ +\w+ (\w+) +:?= ", re.MULTILINE)
_COLLECTORS = {"z": "ZFragmentationLimit", "shenandoah": "ShenandoahGCHeuristics"}
"""Collectors that a build of HotSpot may lack -> an option of theirs in every release since 17."""
_NAMES: dict[Literal["openj9", "hotspot"], str] = {
    "openj9": r".*OpenJ9.*",
    # OpenJDK's own name, and the one that Oracle's builds carry.
    "hotspot": r"(OpenJDK|Java HotSpot\(TM\)) .*VM",
}


class JvmIdentity(Documented, extra="ignore", frozen=True):
    """What a JVM says of itself."""

    kind: Literal["hotspot", "openj9"]
    vm_name: str
    vm_version: str
    runtime_version: str
    java_version: str
    vendor: str
    home: str
    feature: int
    """Java feature release, for example 17."""
    architecture: str
    collectors: tuple[str, ...] | None = None
    """Which of `z` and `shenandoah` its build has; None: not known."""

    @property
    def full_name(self) -> str:
        """Its name with its build, for people: `OpenJDK 64-Bit Server VM 17.0.15+6-Debian-1deb12u1`."""
        return f"{self.vm_name} {self.runtime_version}"


def parse_identity(text: str) -> JvmIdentity:
    """Read what a JVM printed.

    Raises:
        ValueError: not the output of a JVM, or of one that is neither HotSpot nor OpenJ9.
    """
    properties = {name: value.strip() for name, value in _PROPERTY.findall(text)}
    flags = set(_FLAG.findall(text))
    try:
        vm_name = properties["java.vm.name"]
        jvm_kind = next((name for name, pattern in _NAMES.items() if re.fullmatch(pattern, vm_name)), None)
        if jvm_kind is None:
            raise ValueError(f"{vm_name} is neither HotSpot nor OpenJ9")
        return JvmIdentity(
            kind=jvm_kind,
            vm_name=vm_name,
            vm_version=properties["java.vm.version"],
            runtime_version=properties["java.runtime.version"],
            java_version=properties["java.version"],
            vendor=properties["java.vendor"],
            home=properties["java.home"],
            # 17 of `17`, 8 of `1.8`.
            feature=int(properties["java.specification.version"].removeprefix("1.")),
            architecture=properties["os.arch"],
            collectors=tuple(name for name, flag in _COLLECTORS.items() if flag in flags)
            if "UseZGC" in flags
            else None,
        )
    except KeyError as error:
        raise ValueError(f"a JVM did not tell its {error.args[0]}") from error
