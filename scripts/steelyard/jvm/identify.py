# SPDX-License-Identifier: Apache-2.0
"""Which JVM it is, from what it says of itself: `java -XshowSettings:properties -version` (standard error)."""

import re
from typing import Literal

from steelyard.results.spec import JvmIdentity

_PROPERTY = re.compile(r"^    ([\w.]+) = (.*)$", re.MULTILINE)
_NAMES: dict[Literal["openj9", "hotspot"], str] = {
    "openj9": r".*OpenJ9.*",
    # OpenJDK's own name, and the one that Oracle's builds carry.
    "hotspot": r"(OpenJDK|Java HotSpot\(TM\)) .*VM",
}


def parse_identity(text: str) -> JvmIdentity:
    """Read the settings that a JVM printed.

    Raises:
        ValueError: not the output of a JVM, or of one that is neither HotSpot nor OpenJ9.
    """
    told = {name: value.strip() for name, value in _PROPERTY.findall(text)}
    try:
        vm_name = told["java.vm.name"]
        kind = next((kind for kind, pattern in _NAMES.items() if re.fullmatch(pattern, vm_name)), None)
        if kind is None:
            raise ValueError(f"{vm_name} is neither HotSpot nor OpenJ9")
        return JvmIdentity(
            kind=kind,
            vm_name=vm_name,
            vm_version=told["java.vm.version"],
            runtime_version=told["java.runtime.version"],
            java_version=told["java.version"],
            vendor=told["java.vendor"],
            home=told["java.home"],
            # 17 of `17`, 8 of `1.8`.
            feature=int(told["java.specification.version"].removeprefix("1.")),
            architecture=told["os.arch"],
        )
    except KeyError as error:
        raise ValueError(f"a JVM did not tell its {error.args[0]}") from error
