# SPDX-License-Identifier: Apache-2.0
"""`images`: the container images, built, pushed, locked, verified and measured."""

import json
import os
import shutil
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from steelyard.cli.building import ensure_build
from steelyard.cli.options import JsonOption
from steelyard.engines.compose.images import REGISTRY
from steelyard.errors import BadInput, Exit, MissingRequirement
from steelyard.host.docker import Docker, find_docker
from steelyard.images import building, engine, inputs, table
from steelyard.images.bases import ask_for_lock, find_bases
from steelyard.images.checkout import read_sources
from steelyard.images.lock import LOCK, read_lock, write_lock
from steelyard.images.measure import measure, native_platform
from steelyard.images.record import RECORD, Record, joined, read_record, write_record
from steelyard.images.registry import repository_of
from steelyard.images.supply import describe_and_sign, signature_problem
from steelyard.images.verify import Check, Subject, check, passed
from steelyard.paths import CACHE, ROOT
from steelyard.results.store import write_atomic

app = typer.Typer(help="The container images: build, push, lock, verify, measure.", no_args_is_help=True)
PAGE = ROOT / "docs" / "images.md"

TargetsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="[IMAGE]...", help="Targets of images/docker-bake.hcl.", show_default="all of the flavour"
    ),
]
FlavourOption = Annotated[
    str,
    typer.Option(
        "--flavour", metavar="F", help="hotspot (all that needs no OpenJ9), openj9 (the rest) or all."
    ),
]
BasesOption = Annotated[
    str,
    typer.Option(
        "--bases",
        metavar="B",
        help="lock: published bases by the digests of images/lock.json; local: those that make-bases.sh made here.",
    ),
]
RegistryOption = Annotated[
    str,
    typer.Option(
        "--registry", metavar="R", envvar="STEELYARD_REGISTRY", help="Registry and path of the images."
    ),
]
KeyOption = Annotated[
    str | None,
    typer.Option("--key", metavar="KEY", help="Key of cosign: a file or a reference.", show_default=False),
]
PlatformsOption = Annotated[
    list[str],
    typer.Option(
        "--platform", metavar="P", help="For example linux/ppc64le; several times.", show_default="all"
    ),
]
RecordOption = Annotated[
    Path, typer.Option("--record", metavar="FILE", help="Where the digests of what was pushed are written.")
]


@app.command()
def build(
    targets: TargetsArgument = [],  # noqa: B006 - typer reads the default, nothing changes it
    flavour: FlavourOption = "all",
    platform: Annotated[
        str,
        typer.Option(
            "--platform", metavar="P", help="The platform to build for.", show_default="this host's"
        ),
    ] = "",
    bases: BasesOption = "lock",
    registry: RegistryOption = REGISTRY,
    print_: Annotated[
        bool,
        typer.Option("--print", help="Build the Java parts and print the bake definition; build no image."),
    ] = False,
) -> None:
    """Build images for one platform into this host's engine."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    docker = _docker()
    bakery = _bakery(docker, registry, bases)
    chosen = bakery.choose(targets, flavour)
    ensure_build(console)
    if print_:
        typer.echo(building.definition(bakery, chosen))
        return
    wanted = platform or native_platform()
    chosen = inputs.collect(chosen, [wanted], console.print, required=bool(targets))
    digests = building.build(bakery, chosen, wanted, _plain)
    for target in chosen:
        if target.name in digests:
            typer.echo(f"{target.reference} {wanted} {digests[target.name]}")


@app.command()
def push(
    targets: TargetsArgument = [],  # noqa: B006
    flavour: FlavourOption = "all",
    platform: PlatformsOption = [],  # noqa: B006
    bases: BasesOption = "lock",
    registry: RegistryOption = REGISTRY,
    record: RecordOption = RECORD,
    by_digest: Annotated[
        bool, typer.Option("--by-digest", help="Push without a tag; --join on one machine makes the indexes.")
    ] = False,
    join: Annotated[
        list[Path],
        typer.Option(
            "--join",
            metavar="RECORD",
            help="Build nothing: join what --by-digest pushed.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    sbom: Annotated[bool, typer.Option("--sbom/--no-sbom", help="Write SPDX documents with syft.")] = True,
    sign: Annotated[
        bool, typer.Option("--sign/--no-sign", help="Sign, and attach the documents, with cosign.")
    ] = True,
    key: KeyOption = None,
) -> None:
    """Build images for every platform and push them, one index of each; or join what several machines pushed."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    docker = _docker()
    if join:
        made = building.join(docker, joined([read_record(path) for path in join]), _plain)
    else:
        bakery = _bakery(docker, registry, bases)
        chosen = bakery.choose(targets, flavour)
        ensure_build(console)
        chosen = inputs.collect(chosen, platform, console.print, required=bool(targets))
        pushing = building.push_by_digest if by_digest else building.push
        made = pushing(bakery, chosen, platform, _plain)
    # Written before anything else can fail: what is pushed is pushed.
    write_record(record, made)
    if not by_digest:
        write_record(record, describe_and_sign(made, record.parent, key, sbom, sign, console.print))
    for image in made.images:
        for name, digest in image.platforms.items():
            typer.echo(f"{image.repository}:{image.tags[0]} {name} {digest}")
    console.print(f"record: {record}")


@app.command()
def lock(
    check_only: Annotated[
        bool, typer.Option("--check", help="Ask nobody, write nothing: exit code 1 when a digest is missing.")
    ] = False,
) -> None:
    """Write the digests of all bases, per platform, into images/lock.json; nothing when a registry does not answer."""
    now = read_lock()
    if check_only:
        missing = now.missing()
        for name in missing:
            typer.echo(f"not locked: {name}")
        if missing:
            raise typer.Exit(Exit.REGRESSION)
        typer.echo(f"all {len(now.root)} bases are locked")
        return
    new = ask_for_lock(now)
    write_lock(new)
    for name, base in new.root.items():
        mark = "same" if now.root[name] == base else "new"
        typer.echo(f"{name} {base.pinned} ({mark})")
    typer.echo(f"wrote {LOCK}")


@app.command()
def verify(
    images: Annotated[
        list[str],
        typer.Argument(
            metavar="[IMAGE]...", help="References.", show_default="all here, and what containers run"
        ),
    ] = [],  # noqa: B006
    record: Annotated[
        Path | None,
        typer.Option(
            "--record", metavar="FILE", help="Record of `push` to compare digests with.", show_default=False
        ),
    ] = None,
    key: KeyOption = None,
    identity: Annotated[
        str | None,
        typer.Option(
            "--identity", metavar="REGEX", help="Who signed keylessly, as a pattern.", show_default=False
        ),
    ] = None,
    bases: BasesOption = "lock",
    registry: RegistryOption = REGISTRY,
    as_json: JsonOption = False,
) -> None:
    """Check that what is in the engine and what runs is what was locked, is of this checkout, was pushed and signed.

    Exit code 1 when something differs, or when nothing was found.
    """
    docker = _docker()
    bakery = _bakery(docker, registry, bases)
    known = {
        f"{target.repository}:{tag}": target for target in bakery.targets.values() for tag in target.tags
    }
    if images:
        subjects = engine.named_images(docker, images)
    else:
        subjects = [*engine.present_images(docker, list(known)), *engine.containers(docker)]
    pushed = None if record is None else read_record(record)
    locked = find_bases(bases)
    checks = []
    for subject in subjects:
        checks += check(subject, locked, bakery.sources, pushed, known.get(subject.name))
        if key is not None or identity is not None:
            checks.append(_signature(subject, pushed, key, identity))
    if as_json:
        typer.echo(json.dumps({"passed": passed(checks), "checks": [vars(one) for one in checks]}, indent=1))
    else:
        _print_checks(checks)
    if not passed(checks):
        raise typer.Exit(Exit.REGRESSION)


@app.command(name="table")
def table_(
    runs: Annotated[
        int, typer.Option("--runs", metavar="N", min=1, max=50, help="Starts of each server image.")
    ] = 3,
    emulated: Annotated[
        bool, typer.Option("--emulated/--no-emulated", help="Start images of other platforms too, once.")
    ] = True,
    registry: RegistryOption = REGISTRY,
    page: Annotated[
        Path, typer.Option("--page", metavar="FILE", help="Page whose table is written anew.")
    ] = PAGE,
    about: Annotated[
        str,
        typer.Option(
            "--about", metavar="TEXT", help="What the page says of the host.", show_default="its figures"
        ),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Measure every pushed image and write the table of docs/images.md: size, layers, first response, memory."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    docker = _docker()
    targets = _bakery(docker, registry, "lock").targets
    before = "" if as_json else _page(page)
    load = os.getloadavg()[0]
    rows = [
        measure(docker, targets[name], platform, runs, emulated, console.print)
        for name, platform in table.expected(targets)
    ]
    if as_json:
        typer.echo(json.dumps([row.document() for row in rows], indent=1))
        return
    host = f"{native_platform()} host with {os.cpu_count()} CPUs and a load average of {load:.1f} before it"
    text = table.render(rows, about or table.about(f"{host}, Docker Engine {docker.engine_version}", runs))
    write_atomic(page, table.replaced(before, text))
    typer.echo(text)


def _page(path: Path) -> str:
    """The page's text, known to have a part for the table before anything is measured."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror})") from error
    table.replaced(text, "")
    return text


def _docker() -> Docker:
    """The engine; sessions have a way without one, and images have not."""
    try:
        return find_docker()
    except MissingRequirement as error:
        raise MissingRequirement(str(error).removesuffix(", or use --engine process")) from error


def _bakery(docker: Docker, registry: str, choice: str) -> building.Bakery:
    sources = read_sources()
    folder = CACHE / "build" / sources.fingerprint
    return building.open_bakery(docker, registry, find_bases(choice), choice, sources, folder)


def _signature(subject: Subject, pushed: Record | None, key: str | None, identity: str | None) -> Check:
    cosign = shutil.which("cosign")
    if cosign is None:
        raise MissingRequirement(
            "cosign was not found, and checking signatures needs it: install cosign 2 or newer"
        )
    published = pushed.of(subject.name) if pushed is not None else None
    digest = (
        published.index if published is not None and published.index else next(iter(sorted(subject.digests)))
    )
    problem = signature_problem(cosign, key, identity, f"{repository_of(subject.name)}@{digest}")
    return Check(subject.name, "signature", problem is None, problem or digest[:19])


def _print_checks(checks: list[Check]) -> None:
    shown = Table("image", "check", "", "detail")
    before = None
    for one in checks:
        subject, before = ("" if one.subject == before else one.subject), one.subject
        shown.add_row(subject, one.name, "ok" if one.passed else "[bold]DIFFERS[/bold]", one.detail)
    Console(width=None if os.isatty(1) else 200).print(
        shown if checks else "no image of this project was found"
    )


def _plain(line: str) -> None:
    typer.echo(line, err=True)
