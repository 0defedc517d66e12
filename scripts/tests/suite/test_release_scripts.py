# SPDX-License-Identifier: Apache-2.0
"""Steps of a release that need no container engine: what drops out, what is signed, which tag is refused."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from release_steps import PLATFORMS, SCRIPTS, Registry, git, needs_clients, step

from steelyard.paths import ROOT

pytestmark = needs_clients


def result(folder: Path, platform: str, *failed: tuple[str, str]) -> Path:
    """What start-record.sh leaves."""
    path = folder / f"started-{platform.partition('/')[2]}.json"
    lines = [{"target": target, "platform": platform, "why": why} for target, why in failed]
    path.write_text(json.dumps({"platform": platform, "failed": lines}), encoding="utf-8")
    return path


def drop(record: Path, *results: Path) -> tuple[subprocess.CompletedProcess[str], Path, Path]:
    new, notes = record.with_name("new.json"), record.with_name("notes.md")
    return step("drop", record, new, notes, *results), new, notes


BUILDER = """#!/bin/sh
case "$1" in
version) echo amd64; exit ;;
esac
file='' target=''
for word; do
    case $before in --file) file=$word ;; --metadata-file) metadata=$word ;; esac
    before=$word target=$word
done
jq --compact-output '.target' "$file" >>ASKED
echo "$*" >>ASKED
digest=$(sed -n "$(($(grep -c no-cache ASKED)))p" DIGESTS)
printf '{"%s": {"containerimage.digest": "sha256:%s"}}' "$target" "$digest" >"$metadata"
"""
"""An engine that builds nothing and has a digest for each time that it is asked."""


@pytest.mark.parametrize(("digests", "status"), [("a a b b", 0), ("a a b c", 1)])
def test_a_rebuild_fails_unless_both_are_the_same(tmp_path: Path, digests: str, status: int) -> None:
    asked, listed, engine = (tmp_path / name for name in ("asked", "digests", "docker"))
    listed.write_text("".join(f"{digest}\n" for digest in digests.split()), encoding="utf-8")
    engine.write_text(BUILDER.replace("ASKED", str(asked)).replace("DIGESTS", str(listed)), encoding="utf-8")
    engine.chmod(0o755)
    targets = {name: {"tags": ["a:1"], "platforms": ["linux/ppc64le"]} for name in ("loadgen", "harness")}
    definition = tmp_path / "definition.json"
    definition.write_text(json.dumps({"target": targets}), encoding="utf-8")
    done = step("rebuild", definition, "loadgen", "harness", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == status, done.stderr
    assert "rebuild: loadgen is sha256:a, twice" in done.stdout
    assert ("rebuild: harness is sha256:b and then sha256:c" in done.stderr) == bool(status)
    lines = asked.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 8
    for made, command in zip(lines[::2], lines[1::2], strict=True):
        (target,) = json.loads(made).values()
        assert (target["platforms"], "tags" in target) == (["linux/amd64"], False)
        assert "rewrite-timestamp=true" in target["output"][0]
        assert "--no-cache" in command.split()
        assert "--provenance=false" in command.split()


BAKE = """#!/bin/sh
case "$*" in
version*) echo amd64 ;;
"buildx imagetools inspect --raw "*) cat INDEX ;;
"buildx bake "*)
    while [ "$1" != --file ]; do shift; done
    jq --raw-output '.target[].platforms | join(" ")' "$2" >>ASKED
    asked=$(tail -n 1 ASKED)
    for broken in $BROKEN; do
        case " $asked " in *" $broken "*) echo "ERROR: failed to solve: base:1@sha256:0a: no package." && exit 1 ;; esac
    done
    echo '{"manifests": []}' >INDEX
    for platform in $asked; do
        jq --arg p "$platform" '.manifests += [{digest: ("sha256:" + $p), platform: ($p | split("/")
            | {os: .[0], architecture: .[1]})}]' INDEX >INDEX.new && mv INDEX.new INDEX
    done
    while [ "$1" != --metadata-file ]; do shift; done
    echo '{"loadgen": {"containerimage.digest": "sha256:index"}}' >"$2" ;;
esac
"""
"""An engine that builds for all platforms but the broken ones, and a registry that has what was built last."""


@pytest.fixture
def builder(tmp_path: Path) -> Callable[..., tuple[subprocess.CompletedProcess[str], list[str], Path]]:
    """build.sh with platforms that fail: how it ended, the platforms of each build, the record."""
    asked, record, definition = (tmp_path / name for name in ("asked", "built.json", "definition.json"))
    target = {"tags": ["127.0.0.1:1/o/steelyard/loadgen:1"], "platforms": list(PLATFORMS)}
    definition.write_text(json.dumps({"target": {"loadgen": target}}), encoding="utf-8")
    text = BAKE.replace("ASKED", str(asked)).replace("INDEX", str(tmp_path / "index"))
    for name, content in (("docker", text), ("skopeo", "#!/bin/sh\n")):
        (tmp_path / name).write_text(content, encoding="utf-8")
        (tmp_path / name).chmod(0o755)

    def run(*broken: str) -> tuple[subprocess.CompletedProcess[str], list[str], Path]:
        asked.unlink(missing_ok=True)
        path = f"{tmp_path}:{os.environ['PATH']}"
        done = step("build", definition, record, PATH=path, BROKEN=" ".join(broken))
        return done, asked.read_text(encoding="utf-8").splitlines(), record

    return run


def test_a_platform_that_does_not_build_is_left_out_and_the_record_says_why(
    builder: Callable[..., tuple[subprocess.CompletedProcess[str], list[str], Path]], tmp_path: Path
) -> None:
    done, asked, record = builder()
    assert done.returncode == 0, done.stderr
    assert asked == [" ".join(PLATFORMS)]
    entry = json.loads(record.read_text())["loadgen"]
    assert (list(entry["platforms"]), entry["missing"]) == (list(PLATFORMS), {})

    done, asked, record = builder("linux/ppc64le")
    assert done.returncode == 0, done.stderr
    assert asked == [" ".join(PLATFORMS), *PLATFORMS, "linux/amd64 linux/arm64"]
    entry = json.loads(record.read_text())["loadgen"]
    assert list(entry["platforms"]) == ["linux/amd64", "linux/arm64"]
    assert entry["missing"] == {"linux/ppc64le": "base:1: no package"}
    # What is published says it; and that nothing was started there is nothing new.
    done, new, notes = drop(record, *(result(tmp_path, platform) for platform in PLATFORMS))
    assert done.returncode == 0, done.stderr
    assert notes.read_text() == "- `loadgen` is not there for linux/ppc64le: base:1: no package.\n"
    assert json.loads(new.read_text()) == json.loads(record.read_text())


@pytest.mark.parametrize("broken", [("linux/amd64",), PLATFORMS])
def test_no_image_is_left_without_the_first_platform(
    builder: Callable[..., tuple[subprocess.CompletedProcess[str], list[str], Path]], broken: tuple[str, ...]
) -> None:
    done, asked, record = builder(*broken)
    assert done.returncode == 1
    assert asked == [" ".join(PLATFORMS), "linux/amd64"]
    assert "build: loadgen (linux/amd64): base:1: no package" in done.stderr
    assert not record.exists()


def test_before_a_release_another_platform_may_fail() -> None:
    """Its images drop out afterwards (start-record.sh, drop.sh); on any other day the workflow is red."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "images.yml").read_text(encoding="utf-8"))
    job = workflow["jobs"]["platform"]
    assert job["continue-on-error"] == "${{ github.ref_type == 'tag' && matrix.platform != 'linux/amd64' }}"
    assert [one["platform"] for one in job["strategy"]["matrix"]["include"]] == list(PLATFORMS)
    limits = [one["timeout-minutes"] for one in job["steps"] if re.match("(Build|Start) every", one["name"])]
    assert len(limits) == 2
    assert sum(limits) < job["timeout-minutes"]


def test_when_all_works_the_record_stays_as_it_is(record: Path, tmp_path: Path) -> None:
    done, new, notes = drop(record, *(result(tmp_path, platform) for platform in PLATFORMS))
    assert done.returncode == 0, done.stderr
    assert json.loads(new.read_text()) == json.loads(record.read_text())
    assert notes.read_text() == ""


def test_what_failed_drops_out_with_a_sentence_and_the_rest_stays(record: Path, tmp_path: Path) -> None:
    failed = result(tmp_path, "linux/arm64", ("ping-openj9", "it ended: 134"))
    done, new, notes = drop(record, result(tmp_path, "linux/amd64"), failed)  # nothing was heard of ppc64le
    assert done.returncode == 0, done.stderr
    assert notes.read_text().splitlines() == [
        "- `loadgen` is not there for linux/ppc64le: it was started nowhere.",
        "- `ping-openj9` is not there for linux/arm64: it ended: 134.",
        "- `ping-openj9` is not there for linux/ppc64le: it was started nowhere.",
    ]
    before, after = json.loads(record.read_text()), json.loads(new.read_text())
    assert after["ping-openj9"]["missing"] == {
        "linux/arm64": "it ended: 134",
        "linux/ppc64le": "it was started nowhere",
    }
    assert {name: list(entry["platforms"]) for name, entry in after.items()} == {
        "loadgen": ["linux/amd64", "linux/arm64"],
        "ping-openj9": ["linux/amd64"],
    }
    for name, entry in after.items():
        index = json.loads(Registry.kept[entry["containerimage.digest"]])
        digests = [one["digest"] for one in index["manifests"]]
        own = [before[name]["platforms"][platform] for platform in entry["platforms"]]
        # Each platform that stays, with what the builder says of it, and nothing of those that went.
        assert digests[::2] == own
        said = [one["annotations"]["vnd.docker.reference.digest"] for one in index["manifests"][1::2]]
        assert said == own


@pytest.mark.parametrize("heard", [True, False])
def test_there_is_no_version_without_the_first_platform(record: Path, tmp_path: Path, *, heard: bool) -> None:
    other = result(tmp_path, "linux/arm64")
    first = result(tmp_path, "linux/amd64", ("loadgen", "the load had errors"))
    done, new, _ = drop(record, *([first, other] if heard else [other]))
    assert done.returncode == 1
    assert "there is no version without linux/amd64" in done.stderr
    assert ("the load had errors" in done.stderr) == heard
    assert not new.exists()


def test_a_registry_that_does_not_answer_ends_it(record: Path, tmp_path: Path, registry: str) -> None:
    record.write_text(record.read_text().replace(registry, "127.0.0.1:1"))
    done, new, _ = drop(record, result(tmp_path, "linux/amd64"))
    assert done.returncode != 0
    assert not new.exists()


ENGINE = """#!/bin/sh
case "$1 $2" in
"version --format") echo amd64 ;;
"image inspect") [ "$3" != --format ] || case $4 in *role*) echo filter ;; *) echo ;; esac ;;
"run "*) case "$*" in *"$BROKEN"*) exit 125 ;; esac ;;
"inspect --format") echo true ;;
"wait "*) echo 0 ;;
esac
"""


def test_every_image_of_a_platform_is_started_and_what_fails_is_written_down(
    record: Path, tmp_path: Path
) -> None:
    engine = tmp_path / "docker"
    engine.write_text(ENGINE, encoding="utf-8")
    engine.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    entries = json.loads(record.read_text())
    broken = entries["ping-openj9"]["containerimage.digest"]
    left = tmp_path / "started.json"

    done = step("start-record", "linux/amd64", record, left, PATH=path, BROKEN="nothing")
    assert done.returncode == 0, done.stderr
    assert json.loads(left.read_text()) == {"platform": "linux/amd64", "failed": []}

    done = step("start-record", "linux/amd64", record, left, PATH=path, BROKEN=broken)
    assert done.returncode == 1
    (failure,) = json.loads(left.read_text())["failed"]
    assert failure["target"] == "ping-openj9"
    assert failure["why"].endswith("did not start")

    # On another platform that is no end; and OpenJ9 is not started under emulation.
    done = step("start-record", "linux/ppc64le", record, left, PATH=path, BROKEN=broken)
    assert done.returncode == 0
    (failure,) = json.loads(left.read_text())["failed"]
    assert failure["why"] == "OpenJ9 is started on machines of this platform alone, and there was none"


@pytest.mark.skipif(shutil.which("cosign") is None, reason="cosign is not on PATH")
def test_files_have_checksums_that_are_signed(tmp_path: Path) -> None:
    environment = {**os.environ, "COSIGN_PASSWORD": ""}
    subprocess.run(
        ["cosign", "generate-key-pair"], cwd=tmp_path, env=environment, capture_output=True, check=True
    )
    folder = tmp_path / "release"
    folder.mkdir()
    for name in ("record.json", "bundles.tar.gz"):
        (folder / name).write_text(name, encoding="utf-8")
    key, public = tmp_path / "cosign.key", tmp_path / "cosign.pub"
    done = step("sign-files", "-k", key, *sorted(folder.iterdir()), COSIGN_PASSWORD="")
    assert done.returncode == 0, done.stderr
    subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=folder, capture_output=True, check=True
    )
    verify = ["cosign", "verify-blob", "--key", str(public), "--bundle", "SHA256SUMS.sigstore.json"]
    verify += ["--insecure-ignore-tlog=true", "SHA256SUMS"]
    assert subprocess.run(verify, cwd=folder, capture_output=True, check=False).returncode == 0
    with (folder / "SHA256SUMS").open("a", encoding="utf-8") as sums:
        sums.write("\n")
    assert subprocess.run(verify, cwd=folder, capture_output=True, check=False).returncode != 0


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with what version.sh reads."""
    folder = tmp_path / "checkout"
    (folder / ".github" / "scripts").mkdir(parents=True)
    shutil.copy2(SCRIPTS / "version.sh", folder / ".github" / "scripts")
    (folder / "steelyard").write_text("#!/bin/sh\necho steelyard 1.2.3\n", encoding="utf-8")
    (folder / "steelyard").chmod(0o755)
    (folder / "CHANGELOG.md").write_text("# Changes\n\n## 1.2.3 - 2030-01-31\n", encoding="utf-8")
    commit(folder, "one")
    git(folder, "branch", "--move", "main")
    return folder


def commit(folder: Path, message: str) -> None:
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)


def version(folder: Path, tag: str) -> subprocess.CompletedProcess[str]:
    command = [str(folder / ".github" / "scripts" / "version.sh"), tag, "main"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_tag_names_the_version_is_on_main_and_has_a_part_in_the_changelog(checkout: Path) -> None:
    assert version(checkout, "v1.2.3").returncode == 0
    assert "this checkout is 1.2.3" in version(checkout, "v1.2.4").stderr
    git(checkout, "switch", "--quiet", "--create", "side")
    commit(checkout, "two")
    refused = version(checkout, "v1.2.3")
    assert refused.returncode == 1
    assert "is not on main" in refused.stderr
    git(checkout, "switch", "--quiet", "main")
    (checkout / "CHANGELOG.md").write_text("# Changes\n", encoding="utf-8")
    assert "has no part 1.2.3" in version(checkout, "v1.2.3").stderr


def test_a_release_is_approved_once_and_last() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))[
        "jobs"
    ]
    assert [name for name, job in jobs.items() if "environment" in job] == ["publish"]
    assert {name for name, job in jobs.items() if "write" in str(job.get("permissions"))} == {
        "build",
        "publish",
    }
    assert set(jobs["publish"]["needs"]) == {"build", "start", "scan"}
    started = [one["platform"] for one in jobs["start"]["strategy"]["matrix"]["include"]]
    assert started == list(PLATFORMS)


def test_no_job_waits_for_machines_that_a_repository_need_not_have() -> None:
    lines = [
        (path.name, line)
        for path in (ROOT / ".github" / "workflows").glob("*.yml")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert [each for each in lines if "ubuntu-24.04-ppc64le" in each[1]] == []
    runners = {name: line for name, line in lines if "runner:" in line and "PPC64LE_RUNNER" in line}
    assert runners.keys() == {"images.yml", "release.yml"}
    assert all("|| 'ubuntu-24.04'" in line for line in runners.values()), runners
    assert "github.event_name != 'pull_request'" in runners["images.yml"]


def test_each_ecosystem_is_looked_after_once() -> None:
    updates = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    names = [one["package-ecosystem"] for one in updates]
    assert sorted(names) == sorted(set(names)) == ["docker", "github-actions", "gomod", "maven", "pip"]


@pytest.mark.parametrize(("tag", "is_candidate"), [("v1.2.0", False), ("v1.2.0-rc.1", True)])
def test_a_candidate_is_not_the_latest_release(tmp_path: Path, tag: str, *, is_candidate: bool) -> None:
    path = ROOT / ".github" / "workflows" / "release.yml"
    steps = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]["publish"]["steps"]
    (run,) = (one["run"] for one in steps if one["name"] == "Release page")
    (tmp_path / "gh").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    (tmp_path / "gh").chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "GITHUB_REF_NAME": tag,
        "GITHUB_REPOSITORY": "o/r",
    }
    command = ["bash", "-e", "-c", run]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    words = done.stdout.splitlines()
    assert words[:3] == ["release", "create", tag]
    assert ("--prerelease" in words) == is_candidate
    assert "" not in words
