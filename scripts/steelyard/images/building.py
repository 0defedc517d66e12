# SPDX-License-Identifier: Apache-2.0
"""Builds and pushes the images with `docker buildx bake`."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import BuildFailed
from steelyard.experiment.workloads import WORKLOADS
from steelyard.host.docker import Docker, DockerFailed
from steelyard.images import bake, registry
from steelyard.images.bases import base_references, require_locked
from steelyard.images.checkout import Sources, workload_version
from steelyard.images.lock import Lock, read_lock
from steelyard.images.manifests import Index, Manifest
from steelyard.images.record import Published, Record

OnLine = Callable[[str], None]
PROVENANCE = "--provenance=mode=max"


@dataclass(frozen=True)
class Bakery:
    """The bake file with its variables set."""

    docker: Docker
    sources: Sources
    targets: Mapping[str, bake.Target]
    hotspot: tuple[str, ...]
    """Targets that need no OpenJ9."""
    variables: Mapping[str, str]
    choice: str
    """Where the bases come from."""

    @property
    def environment(self) -> dict[str, str]:
        """What bake is run with."""
        return {**os.environ, **self.variables}

    def choose(self, names: Sequence[str], flavour: str) -> list[bake.Target]:
        """Targets to build, all of whose bases are known (raises BadInput)."""
        chosen = [self.targets[name] for name in bake.chosen(names, flavour, self.targets, self.hotspot)]
        require_locked({target.name: target.unlocked for target in chosen}, self.choice)
        return chosen


def open_bakery(
    docker: Docker, address: str, bases: Lock, choice: str, sources: Sources, folder: Path
) -> Bakery:
    """Set the bake file's variables and ask bake what its targets come to.

    Args:
        docker: the engine's client.
        address: registry and path of the images.
        bases: bases with their digests.
        choice: where they come from (`lock`, `local`), for messages.
        sources: the checkout.
        folder: of the finished Java build; need not be there when nothing is built.

    Raises:
        BuildFailed: bake cannot read its file.
    """
    names = sorted({*read_lock().root, *bases.root})
    versions = {name: workload_version(name) for name in WORKLOADS}
    variables = bake.variables(address, sources, versions, folder, base_references(bases, names))
    environment = {**os.environ, **variables}
    try:
        everything, hotspot = (
            bake.parse_plan(_print(docker, bake.group_of(flavour), environment))
            for flavour in ("all", "hotspot")
        )
    except (DockerFailed, ValueError, KeyError) as error:
        raise BuildFailed(f"docker buildx cannot read {bake.BAKE_FILE} ({error})") from error
    return Bakery(docker, sources, everything, tuple(hotspot), variables, choice)


def definition(bakery: Bakery, targets: Sequence[bake.Target]) -> str:
    """What bake would be given, with every variable resolved, as JSON: for building elsewhere without the harness."""
    return bakery.docker.run(*bake.print_command([target.name for target in targets]), env=bakery.environment)


def build(bakery: Bakery, targets: Sequence[bake.Target], platform: str, on_line: OnLine) -> dict[str, str]:
    """Build targets for one platform into the engine.

    Returns:
        Digest of the image by target.

    Raises:
        BuildFailed: as it says.
    """
    fitting = [target for target in targets if platform in target.platforms]
    if not fitting:
        raise BuildFailed(
            f"none of the chosen images exists for {platform}: see platforms in {bake.BAKE_FILE}"
        )
    return _bake(bakery, fitting, [platform], ["--load", "--provenance=false"], on_line)


def push(bakery: Bakery, targets: Sequence[bake.Target], platforms: Sequence[str], on_line: OnLine) -> Record:
    """Build targets for all their platforms (or those given) and push one index of each (raises BuildFailed)."""
    fitting = [target for target in targets if bake.platforms_of(target, platforms)]
    _bake(bakery, fitting, platforms, ["--push", PROVENANCE], on_line)
    return _record(bakery.sources, [_published(target) for target in fitting])


def push_by_digest(
    bakery: Bakery, targets: Sequence[bake.Target], platforms: Sequence[str], on_line: OnLine
) -> Record:
    """Build targets and push them by digest, without a tag: what several machines push is joined later.

    The engine's own builder cannot push by digest, so it writes an archive and skopeo pushes that.

    Raises:
        BuildFailed: as it says.
        MissingRequirement: skopeo is not there.
    """
    skopeo = registry.find_skopeo()
    images = []
    with tempfile.TemporaryDirectory(prefix="steelyard-images-") as temporary:
        for target in targets:
            built = bake.platforms_of(target, platforms)
            if not built:
                continue
            archive = Path(temporary) / f"{target.name}.tar"
            output = [PROVENANCE, *bake.archive_output(target, archive)]
            digest = _bake(bakery, [target], platforms, output, on_line)[target.name]
            _stream(copy_command(skopeo, archive, target.repository, digest), os.environ, on_line)
            archive.unlink()
            pushed = _of_platforms(registry.ask(f"{target.repository}@{digest}"), built[0])
            images.append(
                Published(
                    target=target.name,
                    repository=target.repository,
                    tags=list(target.tags),
                    index=None,
                    sources=[digest],
                    platforms=pushed,
                )
            )
    return _record(bakery.sources, images)


def join(docker: Docker, record: Record, on_line: OnLine) -> Record:
    """Make one index of what was pushed by digest, and tag it (raises BuildFailed)."""
    images = []
    for image in record.images:
        arguments = bake.join_command(image.repository, image.tags, image.sources)
        _stream([str(docker.client), *arguments], os.environ, on_line)
        index = registry.ask(f"{image.repository}:{image.tags[0]}")
        if not isinstance(index, Index) or index.platforms != image.platforms:
            raise BuildFailed(
                f"the index of {image.target} does not hold what was pushed: push its platforms again"
            )
        images.append(image.model_copy(update={"index": index.digest}))
    return record.model_copy(update={"images": images})


def copy_command(skopeo: str, archive: Path, repository: str, digest: str) -> list[str]:
    """The command that pushes an archive by digest, byte for byte."""
    plain = registry.insecure(repository, "--dest-tls-verify=false")
    options = ["--all", "--preserve-digests", "--quiet", *plain]
    return [skopeo, "copy", *options, f"oci-archive:{archive}", f"docker://{repository}@{digest}"]


def _print(docker: Docker, group: str, environment: Mapping[str, str]) -> str:
    return docker.run(*bake.print_command([group]), env=environment)


def _published(target: bake.Target) -> Published:
    found = registry.ask(target.reference)
    platforms = _of_platforms(found, target.platforms[0])
    return Published(
        target=target.name,
        repository=target.repository,
        tags=list(target.tags),
        index=found.digest,
        sources=[found.digest],
        platforms=platforms,
    )


def _of_platforms(found: Index | Manifest, single: str) -> dict[str, str]:
    return found.platforms if isinstance(found, Index) else {single: found.digest}


def _record(sources: Sources, images: list[Published]) -> Record:
    return Record(
        version=sources.version, revision=sources.revision, fingerprint=sources.fingerprint, images=images
    )


def _bake(
    bakery: Bakery,
    targets: Sequence[bake.Target],
    platforms: Sequence[str],
    output: Sequence[str],
    on_line: OnLine,
) -> dict[str, str]:
    with tempfile.TemporaryDirectory(prefix="steelyard-bake-") as temporary:
        metadata = Path(temporary) / "metadata.json"
        arguments = bake.bake_command(targets, platforms, output, metadata)
        _stream([str(bakery.docker.client), *arguments], bakery.environment, on_line)
        return bake.parse_metadata(metadata.read_text(encoding="utf-8"))


def _stream(command: Sequence[str], environment: Mapping[str, str], on_line: OnLine) -> None:
    """Run a command, passing its lines on; its last error line is the sentence when it fails."""
    reason = ""
    with subprocess.Popen(
        list(command),
        cwd=bake.folder(),
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                on_line(line.rstrip())
                reason = line.strip() if "ERROR" in line or "level=fatal" in line else reason
        except BaseException:
            process.terminate()
            raise
    if process.returncode != 0:
        what = " ".join(Path(word).name if n == 0 else word for n, word in enumerate(command[:3]))
        raise BuildFailed(
            f"`{what}` failed ({reason.removeprefix('ERROR: ') or f'exit code {process.returncode}'})"
        )
