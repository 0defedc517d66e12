# SPDX-License-Identifier: Apache-2.0
"""Which JVM it is, from what it says of itself: `java -XshowSettings:properties -version` (standard error)."""

import re

from steelyard.results.spec import JvmIdentity

_PROPERTY = re.compile(r"    ([\w.]+) = (.*)")


def parse_identity(text: str) -> JvmIdentity:
    """Read the settings that a JVM printed.

    Raises:
        ValueError: not the output of a JVM, or of one that is neither HotSpot nor OpenJ9.
    """
    properties = {
        match[1]: match[2].strip() for line in text.splitlines() if (match := _PROPERTY.match(line))
    }
    try:
        vm_name = properties["java.vm.name"]
        return JvmIdentity(
            kind=_kind(vm_name),
            vm_name=vm_name,
            vm_version=properties["java.vm.version"],
            runtime_version=properties["java.runtime.version"],
            java_version=properties["java.version"],
            vendor=properties["java.vendor"],
            home=properties["java.home"],
            feature=_feature(properties["java.specification.version"]),
            architecture=properties["os.arch"],
        )
    except KeyError as error:
        raise ValueError(f"a JVM did not tell its {error.args[0]}") from error


def _kind(vm_name: str) -> str:
    if "OpenJ9" in vm_name:
        return "openj9"
    # OpenJDK's own name, and the one that Oracle's builds carry.
    if re.fullmatch(r"(OpenJDK|Java HotSpot\(TM\)) .*VM", vm_name):
        return "hotspot"
    raise ValueError(f"{vm_name} is neither HotSpot nor OpenJ9")


def _feature(specification: str) -> int:
    """17 of `17`, 8 of `1.8`."""
    return int(specification.removeprefix("1."))
