# SPDX-License-Identifier: Apache-2.0
"""Finds or makes the build of the Java parts, with its progress shown."""

import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from rich.console import Console
from rich.status import Status

from steelyard.build import INJECTOR_PACKAGE, fetch_build, find_build, fingerprint, make_build
from steelyard.cli.console import print_line
from steelyard.host.java import Jdk, find_jdk, find_maven, require_javac
from steelyard.paths import IS_RELEASE, ROOT
from steelyard.results.spec import Spec
from steelyard.session.async_profiler import EVENTS, PACKAGE
from steelyard.session.runtimes import RuntimeResolver
from steelyard.units import format_duration, format_size
from steelyard.workload.loader import load_workload, workload_names


def ensure_build(
    console: Console, jdk: Jdk | None = None, root: Path = ROOT, packages: Collection[str] | None = None
) -> Path:
    """The build of the sources of a checkout as they are now, with these packages; Maven runs only for what is missing.

    Args:
        packages: their names; None: all that the project's workloads run from.

    Raises:
        MissingRequirement: no JDK with javac, or no Maven.
        BuildFailed: as it says.
    """
    names = maven_packages() if packages is None else packages
    build = find_build(names, root)
    if build is not None:
        return build
    if IS_RELEASE and root == ROOT:
        return _fetch(console, names)
    known = maven_packages()
    wanted = {name: known[name] for name in names}
    builder = jdk if jdk is not None and jdk.javac is not None else find_jdk()
    require_javac(builder)
    maven = find_maven(Path(builder.identity.home))
    began = time.monotonic()
    reason = (
        f"first use, or the sources changed: {', '.join(wanted)}"
        if root == ROOT
        else f"build {fingerprint(root)}"
    )
    beginning = f"building the Java parts with Maven ({reason})"
    if not console.is_terminal:
        print_line(console, beginning)
    with console.status(beginning) as status:
        build = make_build(builder, maven, wanted, _progress_printer(console, status), root)
    print_line(console, f"built the Java parts in {format_duration(time.monotonic() - began)}")
    return build


def _fetch(console: Console, names: Collection[str]) -> Path:
    """The packages of an installed release, with what is fetched shown."""
    with console.status("fetching what the session runs"):
        return fetch_build(
            names, lambda name, size: print_line(console, f"fetching {name}, {format_size(size)}")
        )


def ensure_builds(
    console: Console, runtimes: RuntimeResolver, specs: Iterable[Spec], profilers: Collection[str] = ()
) -> None:
    """What the arms of a session run, of every build, and what profiles them (errors as `ensure_build`)."""
    artifacts = [component.artifact for spec in specs for component in spec.components]
    for mark, root in runtimes.builds.items():
        packages = {artifact.package for artifact in artifacts if artifact.build == mark and artifact.package}
        if packages and set(profilers) & set(EVENTS):
            packages.add(PACKAGE)
        ensure_build(console, runtimes.builder, root, sorted(packages))


def maven_packages() -> dict[str, Path]:
    """What the project's own workloads and the injector run from: name -> path below the checkout that Maven makes."""
    own = {**INJECTOR_PACKAGE, PACKAGE: Path("apps/profiler/target/profiler")}
    return own | {
        package: workload.package_path(package).relative_to(ROOT)
        for workload in map(load_workload, workload_names())
        for package, described in workload.workload.packages.items()
        if described.maven
    }


_ARCHIVES = ("[INFO] Building jar:", "[INFO] Building war:")
"""Beginnings of lines that name a file and no module."""


_FETCHED_FILES = 100
"""After how many files there is a line where no status is shown: with an empty cache there are more than a thousand."""


def _progress_printer(console: Console, status: Status) -> Callable[[str], None]:
    """What turns Maven's lines, one by one, into a few that tell a person how far it is."""
    module, fetched = "reading the modules", 0

    def take(line: str) -> None:
        nonlocal module, fetched
        if line.startswith("[INFO] Building ") and not line.startswith(_ARCHIVES):
            module = line.removeprefix("[INFO] Building ").split("  ")[0].strip()
            if not console.is_terminal:
                print_line(console, f"  {module}")
        if "Downloaded from" in line:
            fetched += 1
            if not console.is_terminal and fetched % _FETCHED_FILES == 0:
                print_line(console, f"  {module}, {fetched} files fetched")
        status.update(f"building {module}" + (f", {fetched} files fetched" if fetched else ""))

    return take
