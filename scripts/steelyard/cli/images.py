# SPDX-License-Identifier: Apache-2.0
"""`images`: the container images, built, locked and verified."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer import Argument, Option

from steelyard.cli.building import ensure_build
from steelyard.cli.console import open_console, print_json
from steelyard.cli.options import JsonOption, require_clone
from steelyard.engines.compose.images import leave_settings
from steelyard.errors import BadInput, Exit, MissingRequirement
from steelyard.host.docker import Docker, find_docker, native_architecture
from steelyard.images import lock as locking
from steelyard.images import verify as verifying
from steelyard.images.bake import GROUPS, Bakery, parse_plan, read_bake_names, settings_of
from steelyard.images.catalogue import read_catalogue
from steelyard.images.lock import bases_here, find_bases, find_unlocked, read_bases, read_others
from steelyard.paths import ROOT
from steelyard.workload.loader import workload_names
from steelyard.yamlfile import nearest

app = typer.Typer(help="The container images: build, lock, verify.", no_args_is_help=True)

TargetsArgument = Annotated[
    list[str] | None,  # not [], which Debian's click refuses as a default of arguments
    Argument(
        metavar="[IMAGE]...",
        help="Images of images/images.json, or targets of images/docker-bake.hcl.",
        show_default="all of the flavour",
    ),
]
FlavourOption = Annotated[
    str,
    Option("--flavour", metavar="F", help="hotspot (all that needs no OpenJ9), openj9 (the rest) or all."),
]
_BASES = "published: as the Containerfiles name them; local: those that images/local/make-bases.sh made here."
BasesOption = Annotated[str, Option("--bases", metavar="B", help=_BASES)]
RegistryOption = Annotated[
    str | None,
    Option(
        "--registry",
        metavar="R",
        envvar="STEELYARD_REGISTRY",
        help="Registry and path of the images.",
        show_default="localhost/steelyard",
    ),
]


@app.command()
def build(
    targets: TargetsArgument = None,
    flavour: FlavourOption = "all",
    platform: Annotated[
        str, Option("--platform", metavar="P", help="The platform to build for.", show_default="this host's")
    ] = "",
    bases: Annotated[
        str,
        Option(
            "--bases", metavar="B", help=_BASES, show_default="published where a registry answers, else local"
        ),
    ] = "",
    registry: RegistryOption = None,
    print_: Annotated[
        bool,
        Option(
            "--print",
            help="Build the Java parts and print the bake definition for every platform; build no image.",
        ),
    ] = False,
) -> None:
    """Build the images that this host can build, for its platform, into its engine.

    What there is no base for is left out, which is said; an IMAGE that is named is refused.
    """
    require_clone("images build")
    docker, console, names = _docker(), _console(), find_targets(targets, flavour)
    here = f"linux/{native_architecture()}"
    wanted = platform or here
    if bases or print_:
        choice, known = bases, find_bases(docker, bases or "published")
    else:
        choice, known = bases_here(docker, wanted, console.print)
    bakery = Bakery(docker, registry, known, [] if print_ else [wanted])
    plan = bakery.plan(names, None if targets or print_ else console.print)
    ensure_build(console)
    if print_:
        typer.echo(bakery.definition(names))
        return
    for entry in bakery.bake(plan, "--load", "--provenance=false").values():
        typer.echo(f"{entry['image.name'].partition(',')[0]} {wanted} {entry['containerimage.digest']}")
    if wanted == here and not targets:
        for path in leave_settings(settings_of(plan, registry, known if choice == "local" else {})):
            console.print(f"{path} is yours and stays: see that it names these images")
        console.print(f"next: cd {_simplest()} && docker compose --profile load up --exit-code-from load")


@app.command()
def lock(
    check_only: Annotated[
        bool, Option("--check", help="Ask nobody, write nothing: exit code 12 when a digest is missing.")
    ] = False,
) -> None:
    """Write the digests of bases and others' images into the Containerfiles; nothing when a registry is silent."""
    require_clone("images lock")
    now = read_bases() | read_others()
    if check_only:
        missing = find_unlocked(now)
        for name in missing:
            typer.echo(f"not locked: {name} ({now[name].reference})")
        if missing:
            raise typer.Exit(Exit.CHECK_FAILED)
        typer.echo(f"all {len(now)} bases and images of others are locked")
        return
    for name, base in locking.lock(_docker()).items():
        typer.echo(f"{name} {base.full_reference} ({'same' if now[name] == base else 'new'})")


@app.command()
def verify(
    images: Annotated[
        list[str] | None,
        Argument(metavar="[IMAGE]...", help="References.", show_default="all here, and what containers run"),
    ] = None,
    record: Annotated[
        Path | None,
        Option(
            "--record",
            metavar="FILE",
            help="Record of a release to compare digests with.",
            show_default=False,
        ),
    ] = None,
    bases: BasesOption = "published",
    registry: RegistryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check that what is in the engine and what runs is on the bases asked for, is of this checkout, and was pushed.

    Exit code 12 when something differs, or when nothing was found. Signatures are cosign's: docs/releasing.md.
    """
    docker = _docker()
    # Every target, also those whose bases are not known.
    bakery = Bakery(docker, registry, find_bases(docker, bases), [])
    plan = parse_plan(bakery.definition([GROUPS["all"]]))
    pushed = None if record is None else _read_record(record)
    subjects = verifying.named_images(docker, images) if images else verifying.present(docker, plan)
    checks = [check for subject in subjects for check in verifying.check(subject, plan, pushed)]
    if as_json:
        print_json({"passed": verifying.is_verified(checks), "checks": [vars(check) for check in checks]})
    else:
        _print_checks(checks)
    if not verifying.is_verified(checks):
        raise typer.Exit(Exit.CHECK_FAILED)


def find_targets(wanted: list[str] | None, flavour: str) -> list[str]:
    """Targets for bake: those of images or the targets that were named, else the group of the flavour.

    It is asked before anything is made: bake says which it does not know only once there are bases.
    """
    if flavour not in GROUPS:
        raise BadInput(f"unknown flavour {flavour!r}: there are {', '.join(GROUPS)}")
    images = read_catalogue()
    known = {name: [name] for name in read_bake_names()}
    known |= {target: [target] for name, image in images.items() for target in image.targets(name)}
    known |= {name: image.targets(name, flavour) for name, image in images.items()}
    for name in wanted or ():
        if name not in known:
            raise BadInput(
                f"unknown image {name!r}{nearest(name, list(known))}: there are {', '.join(images)}"
            )
    return [target for name in wanted or [GROUPS[flavour]] for target in known[name]]


def _docker() -> Docker:
    """The engine; sessions have a way without one, and images have not."""
    try:
        return find_docker(measures=False)
    except MissingRequirement as error:
        raise MissingRequirement(str(error).removesuffix(", or use --engine process")) from error


def _console() -> Console:
    return Console(stderr=True, highlight=False, soft_wrap=True, markup=False)


def _read_record(path: Path) -> dict[str, dict[str, Any]]:
    try:
        entries: dict[str, dict[str, Any]] = json.loads(path.read_bytes())
        if not all("containerimage.digest" in entry for entry in entries.values()):
            raise BadInput(f"{path} names an image without a digest: take the record of a release")
    except OSError as error:
        raise BadInput(f"the record {path} cannot be read ({error.strerror}): check the path") from error
    except (ValueError, AttributeError, TypeError) as error:
        raise BadInput(f"{path} is no record of a release") from error
    return entries


def _print_checks(checks: list[verifying.ImageCheck]) -> None:
    shown = Table("image", "check", "", "detail")
    before = None
    for check in checks:
        subject, before = ("" if check.subject == before else check.subject), check.subject
        shown.add_row(
            subject, check.name, Text("ok") if check.passed else Text("DIFFERS", style="bold"), check.detail
        )
    open_console().print(shown if checks else "no image of this project was found")


def _simplest() -> str:
    """The folder of the simplest bundle of a workload, relative to the checkout."""
    bundles = [ROOT / "compose" / name / "compose.yaml" for name in workload_names()]
    there = [path for path in bundles if path.exists()]
    return str(min(there, key=lambda path: path.stat().st_size).parent.relative_to(ROOT))
