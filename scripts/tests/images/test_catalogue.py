# SPDX-License-Identifier: Apache-2.0
"""The list of images, against all that must agree with it."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from steelyard import __version__
from steelyard.images.catalogue import all_platforms, read_catalogue
from steelyard.images.lock import read_bases
from steelyard.paths import ROOT
from steelyard.workload.loader import workload_names

IMAGES = read_catalogue()
START = ROOT / ".github" / "scripts" / "start.sh"
OURS = re.compile(r"(?:steelyard|\$\{STEELYARD_REGISTRY:-localhost/steelyard\})/([a-z0-9-]+):")


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_each_has_a_stage_a_base_and_an_answer() -> None:
    assert {name for name, image in IMAGES.items() if image.flavours} == set(workload_names())
    for name, image in IMAGES.items():
        text = text_of(image.containerfile)
        if image.flavours or "companions" in image.containerfile:
            assert f" AS {name}\n" in text, name
        assert image.base in read_bases() or image.flavours
        assert set(image.platforms) <= set(all_platforms())
        assert all(path.startswith(f"{image.context_root}/") for path in image.answers)
        if image.port and image.role != "compiler":  # OpenJ9's own port for probes
            assert f"EXPOSE {image.port}\n" in text, name


def test_bundles_name_no_other_image() -> None:
    """And each image is named by a bundle, or by the harness, which makes what it names."""
    named: set[str] = set()
    for path in (*ROOT.glob("compose/*/compose.yaml"), *ROOT.glob("k8s/[!l]*/**/*.yaml")):
        named |= set(OURS.findall(path.read_text(encoding="utf-8")))
    assert named == set(IMAGES)


def test_the_harness_image_holds_every_workload_that_an_experiment_names() -> None:
    file = "images/harness/Containerfile"
    copied = set(re.findall(r"^COPY --link (\S+) ", text_of(file), re.MULTILINE))
    sent = set(re.findall(r"^!(\S+)", text_of(f"{file}.dockerignore"), re.MULTILINE))
    named = [
        (path.parent / yaml.safe_load(path.read_text(encoding="utf-8"))["workload"]).resolve()
        for path in (ROOT / "experiments").glob("*.yaml")
    ]
    workloads = {path.relative_to(ROOT) for path in named if path.suffix == ".yaml"}
    assert workloads
    for workload in workloads:
        folders = {folder.as_posix() for folder in workload.parents}
        assert folders & copied, workload
        assert folders & sent, workload


def test_documents_list_every_image() -> None:
    rows = {
        word
        for line in text_of("images/README.md").splitlines()
        if line.startswith("| `")
        for word in re.findall(r"`([a-z0-9-]+):VERSION", line)
    }
    assert rows == set(IMAGES)
    listed = set(
        re.findall(
            rf"^\| `([a-z0-9-]+):{re.escape(__version__)}",
            text_of("docs/reference/compose-bundles.md"),
            re.MULTILINE,
        )
    )
    assert listed == set(IMAGES)


def test_documents_explain_every_variable_of_a_bundle() -> None:
    """By its name, or by `_END` beside others that begin alike."""
    page = text_of("docs/reference/compose-bundles.md") + text_of("docs/how-to/dashboards.md")
    bundles = [path.read_text(encoding="utf-8") for path in (ROOT / "compose").glob("*/compose.yaml")]
    variables = {name for text in bundles for name in re.findall(r"\$\{(STEELYARD_[A-Z0-9_]+)", text)}
    assert len(variables) > 30
    unexplained = [
        name
        for name in sorted(variables)
        if not name.startswith("STEELYARD_BASE_")
        and f"`{name}`" not in page
        and f"`_{name.rpartition('_')[2]}`" not in page
    ]
    assert unexplained == []


def test_the_nightly_weighs_every_workload() -> None:
    nightly = yaml.safe_load(text_of(".github/workflows/nightly.yml"))
    assert sorted(nightly["jobs"]["gate"]["strategy"]["matrix"]["workload"]) == sorted(workload_names())


ENGINE = """#!/bin/sh
case "$1 $2" in
"version --format") echo amd64 ;;
"image inspect") [ "$3" = --format ] || exit 0
    label=${4#*\\"}; label=${label%%\\"*}
    cat "LABELS/$5/$label" 2>/dev/null || echo ;;
"inspect --format") echo true ;;
"exec "*) shift 2; echo "$@" >>ASKED
    for word; do case $word in http://*/ping) echo pong ;; *info) echo workload ;; *live) echo UP ;; esac; done ;;
"logs "*) echo "  ping   LOADED   2.17" ;;
"wait "*) echo 0 ;;
"run "*) echo "$@" >>ASKED ;;
esac
"""


def labels_by_tag() -> dict[str, dict[str, str]]:
    """What bake makes of the list, as far as start.sh reads it; a container test has it from bake itself."""
    made = {}
    for name, image in IMAGES.items():
        for tag in image.tags(__version__):
            labels = {
                "dev.steelyard.role": image.role,
                "dev.steelyard.port": str(image.port),
                "dev.steelyard.answers": " ".join(f"{path}={word}" for path, word in image.answers.items()),
            }
            if image.flavours:
                flavour = tag.rpartition("-")[2]
                labels |= {"dev.steelyard.workload": name, "dev.steelyard.flavour": flavour}
            made[f"g.io/s/{name}:{tag}"] = labels
    return made


def start(folder: Path, *images: str, load: str = "7  0") -> tuple[subprocess.CompletedProcess[str], str]:
    """start.sh with an engine that starts nothing; what it was asked. `load`: requests and errors of the injector."""
    asked, engine = folder / "asked", folder / "docker"
    asked.touch()
    for tag, labels in labels_by_tag().items():
        (folder / "labels" / tag).mkdir(parents=True, exist_ok=True)
        for name, text in labels.items():
            (folder / "labels" / tag / name).write_text(f"{text}\n", encoding="utf-8")
    text = ENGINE.replace("LABELS", str(folder / "labels")).replace("ASKED", str(asked))
    engine.write_text(text.replace("LOADED", load), encoding="utf-8")
    engine.chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    command = [str(START), "linux/amd64", *images]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done, asked.read_text(encoding="utf-8")


def test_every_image_is_started_and_asked_for_what_the_list_says(tmp_path: Path) -> None:
    tags = list(labels_by_tag())
    assert len(tags) == 14
    done, asked = start(tmp_path, *tags)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"start: {tag} (linux/amd64) works" for tag in tags]
    for image in IMAGES.values():
        for path in image.answers:
            assert f"http://127.0.0.1:{image.port}{path}\n" in asked
        if image.port and not image.answers:
            assert f"nc -w 3 127.0.0.1 {image.port} " in asked
    assert "--env JVM_ARGS= g.io/s/olio:" in asked


@pytest.mark.parametrize(("load", "code"), [("999  0", 0), ("1,289  0", 0), ("0  0", 1), ("1,289  1", 1)])
def test_a_load_is_one_with_requests_and_without_errors(tmp_path: Path, load: str, code: int) -> None:
    """As the injector's own table has them, thousands apart: a fast machine makes more than 999 in three seconds."""
    pair = (f"g.io/s/loadgen:{__version__}", f"g.io/s/ping:{__version__}-hotspot")
    done, _ = start(tmp_path, *pair, load=load)
    assert done.returncode == code, done.stderr
    assert ("the load had errors, or there was none" in done.stderr) == bool(code)


def test_what_does_not_say_how_it_works_ends_it(tmp_path: Path) -> None:
    done, _ = start(tmp_path, "g.io/s/stranger:1")
    assert done.returncode == 1
    assert "g.io/s/stranger:1: its labels do not say how it shows that it works" in done.stderr
    alone, _ = start(tmp_path, f"g.io/s/loadgen:{__version__}")
    assert "goes an image of ping" in alone.stderr


@pytest.mark.parametrize("name", ["hotspot", "openj9"])
def test_a_flavour_is_on_a_base_of_its_name(name: str) -> None:
    assert name in read_bases()
