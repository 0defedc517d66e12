# SPDX-License-Identifier: Apache-2.0
"""The workflows as act reads them: which jobs an event starts, on which runners, with which steps. No image is pulled.

Its dry run evaluates every expression, matrix and condition, and what reusable workflows take
(actionlint looks at types).
What transports files and finds holes is GitHub's own, and is stood in for by actions that do nothing.
"""

import functools
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml
from programs import has_engine
from release_steps import git

from steelyard import __version__
from steelyard.images.lock import container_files, read_bases, read_others
from steelyard.paths import ROOT
from steelyard.workload.loader import workload_names

pytestmark = pytest.mark.full
ACT = "v0.2.89"
WORKFLOWS = ROOT / ".github" / "workflows"
POWER = {"PPC64LE_RUNNER": "power"}
MAIN = {"ref": "refs/heads/main"}
PLATFORMS = {
    "linux/amd64": "ubuntu-24.04",
    "linux/arm64": "ubuntu-24.04-arm",
    "linux/ppc64le": "ubuntu-24.04",
}
NOTHING = "name: none\nruns:\n  using: composite\n  steps: [{shell: sh, run: 'true'}]\n"


def pull_request(*, fork: bool) -> dict[str, object]:
    head = {"ref": "change", "repo": {"fork": fork}}
    return {"pull_request": {"number": 7, "head": head, "base": {"ref": "main"}}}


@functools.cache
def find_act() -> str | None:
    """That on PATH, else one compiled once for each version and user; None: without Go there is none."""
    if (found := shutil.which("act")) is not None or shutil.which("go") is None:
        return found
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = caches / "steelyard" / f"act-{ACT}"
    if not (folder / "act").exists():
        environment = {**os.environ, "GOBIN": str(folder), "CGO_ENABLED": "0"}
        command = ["go", "install", f"github.com/nektos/act@{ACT}"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
    return str(folder / "act")


def require_act() -> str:
    """The program; without it a test is left out."""
    if (act := find_act()) is None:
        pytest.skip("act, which reads workflows, is compiled by Go, and neither is on PATH")
    return act


@pytest.mark.parametrize("workflow", sorted(path.stem for path in WORKFLOWS.glob("*.yml")))
def test_a_workflow_is_read_without_a_container_engine(workflow: str, tmp_path: Path) -> None:
    """Its jobs, each in a later stage than those that it needs. More needs an engine: with `-self-hosted` in the place
    of images even a dry run runs the steps."""
    path = WORKFLOWS / f"{workflow}.yml"
    done = subprocess.run(
        [require_act(), "--list", "--workflows", str(path)],
        cwd=ROOT,
        env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    stages = {job: int(stage) for stage, job in (line.split()[:2] for line in done.stdout.splitlines()[1:])}
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    assert set(stages) == set(jobs)
    for name, job in jobs.items():
        needs = job.get("needs", [])
        for needed in [needs] if isinstance(needs, str) else needs:
            assert stages[needed] < stages[name]


@dataclass
class Job:
    """One job, of a matrix one of its jobs."""

    result: str = ""
    matrix: dict[str, str] = field(default_factory=dict)
    steps: list[str] = field(default_factory=list)


Jobs = Mapping[tuple[str, str], Job]
"""By identifier and name."""
Start = Callable[..., Jobs]


@pytest.fixture
def settings(tmp_path: Path) -> list[str]:
    """Options of act that make it independent of this machine and of the network."""
    require_act()
    if not has_engine():
        pytest.skip("act asks a container engine for images in a dry run, too, and none answers")
    used = {
        match
        for path in (*WORKFLOWS.glob("*.yml"), ROOT / "action.yml")
        for match in re.findall(
            r"uses: ([\w-]+/[\w-]+)((?:/[\w-]+)*)@([0-9a-f]{40})", path.read_text(encoding="utf-8")
        )
    }
    options = ["--json", "--no-cache-server"]
    for repository, folder, commit in sorted(used):
        local = tmp_path / "actions" / repository
        (local / folder.strip("/")).mkdir(parents=True, exist_ok=True)
        (local / folder.strip("/") / "action.yml").write_text(NOTHING, encoding="utf-8")
        options += ["--local-repository", f"{repository}@{commit}={local}"]
    for kind in ("env", "secret", "var", "input"):
        options += [f"--{kind}-file", "/dev/null"]
    return options


def run_act(*arguments: str, folder: Path, environment: Mapping[str, str]) -> tuple[int, Jobs]:
    """The jobs that it ran, as its log tells them."""
    done = subprocess.run(
        [require_act(), *arguments],
        cwd=folder,
        env={**os.environ, "XDG_CONFIG_HOME": str(folder / ".none"), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout, done.stderr)  # noqa: T201 - pytest shows it with a failure
    jobs: dict[tuple[str, str], Job] = {}
    for line in (done.stdout + done.stderr).splitlines():
        entry = json.loads(line) if line.startswith("{") else {}
        if "jobID" not in entry:
            continue
        job = jobs.setdefault((entry["jobID"], entry["job"].strip()), Job())
        job.result = entry.get("jobResult", job.result)
        job.matrix = {name: str(value) for name, value in entry.get("matrix", {}).items()} or job.matrix
        if entry["msg"].startswith("⭐ Run Main ") and len(entry["stepID"]) == 1:
            job.steps.append(entry["step"])
    assert done.returncode or jobs or "Error" not in done.stderr, done.stderr
    return done.returncode, jobs


@pytest.fixture
def start(settings: list[str], tmp_path: Path) -> Start:
    """What an event starts in a workflow; every job of it has to end well."""

    def run(workflow: str, event: str, payload: object = None, **variables: str) -> Jobs:
        file = tmp_path / "event.json"
        file.write_text(json.dumps(payload or MAIN), encoding="utf-8")
        options = [
            *settings,
            "--dryrun",
            "--eventpath",
            str(file),
            "--workflows",
            str(WORKFLOWS / f"{workflow}.yml"),
        ]
        # No image is pulled in a dry run; a name makes a label one that there is a runner for.
        labels = {*PLATFORMS.values(), "power", "self-hosted", "steelyard-lab"}
        options += [word for label in sorted(labels) for word in ("--platform", f"{label}={label}")]
        options += [word for name, value in variables.items() for word in ("--var", f"{name}={value}")]
        code, jobs = run_act(
            event, *options, folder=ROOT, environment={"XDG_CACHE_HOME": str(tmp_path / "cache")}
        )
        assert code == 0, jobs
        assert {job.result for job in jobs.values()} <= {"success"}, jobs
        return jobs

    return run


def named(jobs: Jobs, identifier: str) -> list[Job]:
    return [job for (own, _), job in jobs.items() if own == identifier]


def runners(jobs: Jobs, identifier: str) -> dict[str, str]:
    """By platform the runner of a job."""
    return {job.matrix["platform"]: job.matrix["runner"] for job in named(jobs, identifier)}


def test_every_workflow_is_tried_here() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    assert not [path.stem for path in WORKFLOWS.glob("*.yml") if f'start("{path.stem}", ' not in text]


@pytest.mark.parametrize("event", ["push", "pull_request", "schedule"])
def test_the_suite_and_every_image_are_tested(start: Start, event: str) -> None:
    payload = pull_request(fork=True) if event == "pull_request" else MAIN
    jobs = start("test", event, payload, **POWER)
    assert {identifier for identifier, _ in jobs} == {"suite", "definition", "platform"}
    # A stranger's change never asks for a machine of the project.
    expected = {
        **PLATFORMS,
        "linux/ppc64le": PLATFORMS["linux/ppc64le"] if event == "pull_request" else "power",
    }
    assert runners(jobs, "platform") == expected


def test_images_are_built_again_to_the_byte_once_a_week(start: Start) -> None:
    for event, again in (("schedule", ["linux/amd64"]), ("workflow_dispatch", [])):
        jobs = start("images", event)
        assert runners(jobs, "platform") == PLATFORMS
        steps = {job.matrix["platform"]: job.steps for job in named(jobs, "platform")}
        assert [platform for platform, names in steps.items() if "The same bytes again" in names] == again
        assert [platform for platform, names in steps.items() if "A session in containers" in names] == [
            "linux/amd64"
        ]


@pytest.mark.parametrize(("fork", "variables", "wanted"), [
    (True, POWER, {"ubuntu-24.04"}), (False, {}, {"ubuntu-24.04"}), (False, POWER, {"ubuntu-24.04", "power"}),
])  # fmt: skip
def test_the_gate_takes_a_second_runner_where_there_is_one(
    start: Start, *, fork: bool, variables: dict[str, str], wanted: Collection[str]
) -> None:
    jobs = start("gate", "pull_request", pull_request(fork=fork), **variables)
    assert {job.matrix["runner"] for job in named(jobs, "hosted")} == wanted


def test_the_lab_runs_nothing_that_main_did_not_ask_for(start: Start) -> None:
    asked = {**MAIN, "inputs": {"change": "7", "commit": "a" * 40}}
    (job,) = named(start("lab", "workflow_dispatch", asked, STEELYARD_LAB="true"), "gate")
    assert job.steps[0] == "A number and a commit"
    assert not start("lab", "workflow_dispatch", asked)
    assert not start("lab", "workflow_dispatch", {**asked, "ref": "refs/heads/x"}, STEELYARD_LAB="true")


def test_the_night_weighs_every_workload_and_draws_the_page(start: Start) -> None:
    jobs = start("nightly", "schedule")
    assert {job.matrix["workload"] for job in named(jobs, "gate")} == set(workload_names())
    assert len(named(jobs, "page")) == 1


def test_known_holes_are_looked_for_at_night(start: Start) -> None:
    (holes,) = named(start("security", "schedule"), "holes")
    assert holes.steps == ["Check out", "Tools", "Record of the newest version, where there is one", "Scan"]
    jobs = start("security", "pull_request", pull_request(fork=True))
    assert {identifier for identifier, _ in jobs} == {"codeql"}
    assert {job.matrix["language"] for job in named(jobs, "codeql")} == {"python", "java", "actions"}


def test_documents_are_published_from_main(start: Start) -> None:
    assert len(named(start("site", "push"), "site")) == 1


@pytest.mark.parametrize("variables", [{}, POWER])
def test_a_tag_makes_a_release(start: Start, variables: dict[str, str]) -> None:
    jobs = start("release", "push", {"ref": f"refs/tags/v{__version__}"}, **variables)
    once = ("check", "suite", "definition", "build", "scan", "publish")
    assert {name: len(named(jobs, name)) for name in once} == dict.fromkeys(once, 1)
    expected = {**PLATFORMS, "linux/ppc64le": variables.get("PPC64LE_RUNNER", PLATFORMS["linux/ppc64le"])}
    assert runners(jobs, "start") == expected
    (last,) = named(jobs, "publish")
    assert last.steps[-4:] == ["Give the names", "Log out", "Strangers may pull", "Release page"]
    assert list(jobs)[-1][0] == "publish"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clone whose version is released: a part in the changelog, on the main of its origin; bases are not locked, even
    where this checkout's are."""
    folder = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--shared", str(ROOT), str(folder))
    git(folder, "checkout", "--quiet", "-B", "main")
    # What is not committed yet is a part of this checkout too.
    for name in git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard").splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    changes = folder / "CHANGELOG.md"
    changes.write_text(
        f"{changes.read_text(encoding='utf-8')}\n## {__version__} - 2030-01-31\n", encoding="utf-8"
    )
    (folder / ".steelyard").mkdir(exist_ok=True)
    (folder / ".steelyard" / "venv").symlink_to(ROOT / ".steelyard" / "venv")
    set_digests(folder, "")
    commit(folder)
    return folder


def set_digests(folder: Path, digest: str) -> None:
    """Give each base of a registry this digest in the place of its own, or none."""
    base = re.compile(r"^(FROM \w\S*?/[^\s@]+)(?:@\S+)?( AS \w+)$", re.MULTILINE)
    for path in container_files(folder):
        path.write_text(base.sub(rf"\1{digest}\2", path.read_text(encoding="utf-8")), encoding="utf-8")


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "a version")
    git(folder, "update-ref", "refs/remotes/origin/main", "HEAD")


def test_digests_are_given_and_taken_away(tmp_path: Path) -> None:
    for path in container_files():
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True)
        shutil.copy2(path, copy)
    digest = f"sha256:{'a' * 64}"
    for given, wanted in ((f"@{digest}", digest), ("", None)):
        set_digests(tmp_path, given)
        bases = {**read_bases(tmp_path), **read_others(tmp_path)}
        assert {base.digest for base in bases.values()} == {wanted}
        assert {name: base.reference for name, base in bases.items()} == {
            name: base.reference for name, base in {**read_bases(), **read_others()}.items()
        }


def test_the_first_job_of_a_release_runs_here(settings: list[str], checkout: Path, tmp_path: Path) -> None:
    """Its steps, on this machine: act has the runner's variables, and everything else is real."""
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"ref": f"refs/tags/v{__version__}"}), encoding="utf-8")
    options = [
        *settings,
        "--use-gitignore=false",  # the environment of Python is taken along
        "--platform",
        "ubuntu-24.04=-self-hosted",
        "--eventpath",
        str(event),
        "--job",
        "check",
    ]

    def run() -> tuple[int, str, list[str]]:
        workflow = checkout / ".github" / "workflows" / "release.yml"
        environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
        code, jobs = run_act(
            "push", "--workflows", str(workflow), *options, folder=checkout, environment=environment
        )
        ((_, job),) = jobs.items()
        return code, job.result, job.steps

    steps = ["Check out", "The tag names this version, and is on main", "Every base is locked"]
    assert run() == (1, "failure", steps)
    set_digests(checkout, f"@sha256:{'a' * 64}")
    commit(checkout)
    assert run() == (0, "success", steps)
    git(checkout, "update-ref", "refs/remotes/origin/main", "HEAD~1")
    assert run() == (1, "failure", steps[:2])
