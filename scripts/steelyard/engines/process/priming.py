# SPDX-License-Identifier: Apache-2.0
"""What is made once for each build and JVM, so that trials need not do it again: servers that have started before, and
the injector's classes."""

import glob
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from steelyard.clock import Deadline
from steelyard.engines.process.deployment import ProcessDeployment
from steelyard.engines.readiness import POLL_INTERVAL, answers
from steelyard.errors import ServerFailed
from steelyard.host.ports import free_port
from steelyard.host.programs import others_of, server_digest
from steelyard.processes import Children
from steelyard.processes.client import keep_output
from steelyard.processes.reasons import read_log
from steelyard.results.spec import Component
from steelyard.results.store import no_space
from steelyard.spec.injectors import ARCHIVE

_MADE_BY = "-XX:ArchiveClassesAtExit="


def primed_folder(component: Component, package: Path, children: Children) -> Path:
    """A `usr` folder that a Liberty server has started in once, from which every trial's servers are copied.

    Liberty resolves its features on the first start in a directory and keeps the result in its `workarea`. Starting
    from such a copy takes a quarter less CPU (apps/README.md) and is what an installed server does at every start but
    its first; published Liberty images are primed in the same way. Nothing that is measured under load changes.

    A package of the user's own may be deployed anew in its place: its folder is named after the state of its files too,
    and takes the place of earlier ones.

    Raises:
        ServerFailed: the server does not start.
        NoSpace: no room for the copy.
    """
    server, jvm = component.artifact.words[0], component.artifact.jvm
    assert jvm is not None
    of_jvm = f"usr-{server}-{jvm.kind}-{jvm.runtime_version}-{jvm.architecture}".replace("/", "_")
    usr_source = package / "wlp" / "usr"
    is_own = component.artifact.path is not None
    primed = package / (f"{of_jvm}-{server_digest(usr_source, server)}" if is_own else of_jvm)
    if primed.exists():
        return primed
    try:
        with _temporary(package, children) as temporary:
            usr = temporary / "servers" / component.name / "usr"
            shutil.copytree(usr_source, usr, ignore=partial(others_of, server))
            _start_once(component, ProcessDeployment(children, temporary, {component.name: str(package)}, {}))
            usr.rename(primed)
        for earlier in package.glob(f"{glob.escape(of_jvm)}*") if is_own else ():
            if earlier != primed:
                shutil.rmtree(earlier, ignore_errors=True)
    except OSError as error:
        if primed.exists():  # another command was quicker
            return primed
        raise no_space(primed, error) from error
    return primed


def _start_once(component: Component, deployment: ProcessDeployment) -> None:
    # There is no database yet that it could be ready with.
    live = component.ready.model_copy(update={"path": component.ready.live or component.ready.path})
    # Without the arm's options: they would write GC logs and class caches, and change nothing of what is kept. OpenJ9
    # would write a cache unasked, and every trial would inherit it.
    jvm = component.artifact.jvm
    none = ["-Xshareclasses:none"] if jvm is not None and jvm.kind == "openj9" else []
    server = component.model_copy(
        update={"jvm_options": none, "environment": {}, "port": free_port(), "ready": live}
    )
    with _stop_afterwards(deployment):
        deployment.start([server])
        _wait(deployment, server, lambda: answers(server))


@contextmanager
def _temporary(package: Path, children: Children) -> Iterator[Path]:
    """A folder beside what is made in it, gone afterwards, also when this process is killed meanwhile."""
    with tempfile.TemporaryDirectory(dir=package, prefix=".priming-") as name:
        children.on_crash(Path(name).name, ["rm", "-rf", name])
        try:
            yield Path(name)
        finally:
            children.forget_crash(Path(name).name)


@contextmanager
def _stop_afterwards(deployment: ProcessDeployment) -> Iterator[None]:
    try:
        yield
    finally:
        deployment.stop()


def _wait(deployment: ProcessDeployment, component: Component, done: Callable[[], bool]) -> None:
    within = component.ready.within
    deadline = Deadline(within)
    while not done():
        if failure := deployment.failure(component.name):
            raise ServerFailed(_with_kept_log(failure, deployment, component))
        if deadline.is_over:
            log = deployment.logs(component.name) / "console.log"
            late = f"{component.name} did not answer within {within:.0f} s: is its JDK sound? See {log}"
            raise ServerFailed(_with_kept_log(late, deployment, component))
        deadline.sleep(POLL_INTERVAL)


def _with_kept_log(sentence: str, deployment: ProcessDeployment, component: Component) -> str:
    """The sentence on a first start that failed, which names a copy of its log: the folder of such a start goes."""
    log = deployment.logs(component.name) / "console.log"
    kept = keep_output(f"first-start-of-{component.name}", read_log(log))
    return sentence.replace(str(log), str(kept)) if kept is not None else sentence


def archived_classes(injector: Component, package: Path, children: Children, unmade: set[Path]) -> None:
    """Make the archive of classes that the injector's options name (`spec.injectors.ARCHIVE`), if it is not there.

    Half of the CPU that an injector takes until it is ready is the loading and verifying of classes (1.2 CPU seconds
    are left of 2.6): time of every trial. What it sends later is the same. A JVM whose JDK has no archive of its own
    (that of jlink, for one) makes none, and starts without.

    Args:
        injector: with its options.
        package: it runs from this folder.
        children: starts it.
        unmade: archives that its JVM does not make, which is not tried again; may get another one.

    Raises:
        ServerFailed: the injector does not start.
        NoSpace: no room for the archive.
    """
    option = next((option for option in injector.jvm_options if option.startswith(ARCHIVE)), None)
    if option is None:
        return
    # Beside the package and not in it: images are made of the package.
    archive = package.with_name(Path(option.removeprefix(ARCHIVE).replace("${package}", package.name)).name)
    if archive.exists() or archive in unmade:
        return
    try:
        with _temporary(package.parent, children) as temporary:
            made = temporary / archive.name
            with_archive = [f"{_MADE_BY}{made}" if word == option else word for word in injector.jvm_options]
            without = [word for word in injector.jvm_options if word != option]
            try:
                _run_through(injector, with_archive, package, children, temporary / "with")
            except ServerFailed:
                _run_through(injector, without, package, children, temporary / "without")
            if made.exists():
                made.rename(archive)
            else:
                unmade.add(archive)
    except OSError as error:
        if not archive.exists():  # another command was quicker
            raise no_space(archive, error) from error


def _run_through(
    injector: Component, options: Sequence[str], package: Path, children: Children, folder: Path
) -> None:
    """Start an injector with these options and end it as soon as it is ready (raises ServerFailed)."""
    deployment = ProcessDeployment(children, folder, {injector.name: str(package)}, {})
    with _stop_afterwards(deployment):
        deployment.start([injector.model_copy(update={"jvm_options": list(options)})])
        logs = deployment.logs(injector.name)
        _wait(deployment, injector, (logs / "ready").exists)
        (logs / "stop").touch()
        _wait(deployment, injector, lambda: deployment.exit_code(injector.name) is not None)
