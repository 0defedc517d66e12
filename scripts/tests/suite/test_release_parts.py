# SPDX-License-Identifier: Apache-2.0
"""What is in the images of a release: the list of what others made, and what is known of it."""

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Callable
from datetime import date
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml
from release_steps import needs_clients, step

from steelyard.paths import ROOT

pytestmark = needs_clients

SBOMS = """#!/bin/sh
case $* in
*single*"with index"*) exit 1 ;;
*ppc64le*) [ "$LACKING" = yes ] || cat "$SPDX" ;;
*) jq '.packages += [{"name": "a,b"}]' "$SPDX" ;;
esac
"""


def test_the_list_of_parts_is_made_of_the_sboms(record: Path, tmp_path: Path) -> None:
    engine, listed = tmp_path / "docker", tmp_path / "third-party.csv"
    engine.write_text(SBOMS, encoding="utf-8")
    engine.chmod(0o755)
    spdx = tmp_path / "zlib.json"
    zlib = {"name": "zlib", "versionInfo": "1.3", "licenseConcluded": "Zlib"}
    spdx.write_text(json.dumps({"packages": [zlib]}), encoding="utf-8")
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SPDX": str(spdx), "LACKING": "no"}
    done = step("parts", record, listed, **path)
    assert done.returncode == 0, done.stderr
    images = " ".join(sorted(json.loads(record.read_text())))
    assert listed.read_text().splitlines() == [
        '"name","version","licence","images"',
        f'"a,b","","NOASSERTION","{images}"',
        f'"zlib","1.3","Zlib","{images}"',
    ]
    refused = step("parts", record, listed, **{**path, "LACKING": "yes"})
    assert refused.returncode == 1
    assert "has no SBOM for linux/ppc64le" in refused.stderr


def test_an_image_of_one_platform_has_its_parts_too(record: Path, tmp_path: Path) -> None:
    """As when all others were dropped; the builder's client refuses to look for a platform there."""
    entries = json.loads(record.read_text(encoding="utf-8"))
    single = {**entries["loadgen"], "image.name": "g.io/o/single:1"}
    single["platforms"] = {"linux/amd64": single["platforms"]["linux/amd64"]}
    record.write_text(json.dumps({"single": single}), encoding="utf-8")
    engine, listed, spdx = tmp_path / "docker", tmp_path / "third-party.csv", tmp_path / "zlib.json"
    engine.write_text(SBOMS, encoding="utf-8")
    engine.chmod(0o755)
    spdx.write_text(json.dumps({"packages": [{"name": "zlib"}]}), encoding="utf-8")
    done = step("parts", record, listed, PATH=f"{tmp_path}:{os.environ['PATH']}", SPDX=str(spdx))
    assert done.returncode == 0, done.stderr
    assert '"zlib","","NOASSERTION","single"' in listed.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("concluded", "declared", "licence"),
    [
        ("NOASSERTION", "MIT", "MIT"),
        ("NONE", "NOASSERTION", "NOASSERTION"),
        (None, "MIT", "MIT"),
        ("MIT", "BSD", "MIT"),
    ],
)
def test_a_licence_that_is_not_asserted_is_none(
    record: Path, tmp_path: Path, concluded: str | None, declared: str, licence: str
) -> None:
    zlib = {"name": "zlib", "licenseDeclared": declared} | (
        {"licenseConcluded": concluded} if concluded else {}
    )
    engine, listed, spdx = tmp_path / "docker", tmp_path / "third-party.csv", tmp_path / "zlib.json"
    engine.write_text('#!/bin/sh\ncat "$SPDX"\n', encoding="utf-8")
    engine.chmod(0o755)
    spdx.write_text(json.dumps({"packages": [zlib]}), encoding="utf-8")
    done = step("parts", record, listed, PATH=f"{tmp_path}:{os.environ['PATH']}", SPDX=str(spdx))
    assert done.returncode == 0, done.stderr
    assert f'"zlib","","{licence}",' in listed.read_text(encoding="utf-8")


# As dpkg keeps them (Debian's image), and a file for each package (the bases made of packages).
NUMPY = """Package: python3-numpy
Status: {status}
Source: numpy
Version: 1:2.2.4+ds-1
Architecture: amd64
Depends: python3 (>= 3.13~), libc6 (>= 2.38)
Description: Fast array facility to the Python 3 language
 Package: no package, and Version: none
"""


@pytest.mark.parametrize("name", ["status", "status.d/python3-numpy"])
def test_the_local_scanner_lists_what_dpkg_has_installed(tmp_path: Path, name: str) -> None:
    listed = tmp_path / "core" / "var" / "lib" / "dpkg" / name
    listed.parent.mkdir(parents=True)
    # dpkg has no such line in a package itself.
    numpy = NUMPY.format(status="install ok installed")
    if name == "status":
        removed = NUMPY.format(status="deinstall ok config-files").replace("python3-numpy", "python3-removed")
        numpy = f"{numpy}\n{removed}\n{numpy.replace('python3-numpy', 'python3.13')}"
    else:
        numpy = numpy.replace("Status: install ok installed\n", "")
    listed.write_text(numpy, encoding="utf-8")
    environment = {
        "PATH": os.environ["PATH"],
        "BUILDKIT_SCAN_SOURCE": str(tmp_path / "core"),
        "BUILDKIT_SCAN_DESTINATION": str(tmp_path),
    }
    command = ["sh", str(ROOT / "images" / "local" / "scanner" / "scan.sh")]
    subprocess.run(command, env=environment, capture_output=True, check=True)
    statement = json.loads((tmp_path / "core.spdx.json").read_text(encoding="utf-8"))
    assert [
        (package["name"], package["versionInfo"], package["externalRefs"][0]["referenceLocator"])
        for package in statement["predicate"]["packages"]
    ] == [
        (package, "1:2.2.4+ds-1", f"pkg:deb/debian/{package}@1:2.2.4+ds-1?arch=amd64")
        for package in ("python3-numpy", "python3.13")[: 2 if name == "status" else 1]
    ]


# Its database is on the internet: what it is asked is what is looked at, and its answer of SBOMs is made up.
SCANNER = """#!/bin/sh
echo "$@" >>ASKED
case $* in *spdx*) printf %s "$ANSWER" && exit "$CODE" ;; esac
echo '{"results": []}'
"""
UNFIXED = {
    "package": {"ecosystem": "Debian:13", "name": "zlib"},
    "ranges": [{"events": [{"introduced": "0"}]}],
}
FIXED = {**UNFIXED, "ranges": [{"events": [{"introduced": "0"}, {"fixed": "1.4"}]}]}
ELSEWHERE = {**FIXED, "package": {"ecosystem": "Debian:14", "name": "zlib"}}
NEVER = {**UNFIXED, "package": {"ecosystem": "Maven", "name": "zlib"}}
UBUNTU = {**UNFIXED, "package": {"ecosystem": "Ubuntu:24.04:LTS", "name": "zlib"}}
PAID = {**FIXED, "package": {"ecosystem": "Ubuntu:Pro:24.04:LTS", "name": "zlib"}}


def answer(ecosystem: str, *affected: object) -> str:
    """As osv-scanner writes it, of a package and one finding."""
    packages = [
        {
            "package": {"name": "zlib", "version": "1.3", "ecosystem": ecosystem},
            "vulnerabilities": [{"id": "X-1", "affected": affected}],
        }
    ]
    source = {"path": "/tmp/sboms/ping-openj9-arm64.spdx.json", "type": "sbom"}
    return json.dumps({"results": [{"source": source, "packages": packages}]})


@pytest.fixture
def scan(record: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the scan with what the scanner answers, and the exit code that it ends with."""
    spdx, asked = tmp_path / "zlib.json", tmp_path / "asked"
    spdx.write_text(json.dumps({"packages": [{"name": "zlib"}]}), encoding="utf-8")
    for name, text in (("docker", SBOMS), ("osv-scanner", SCANNER.replace("ASKED", str(asked)))):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)

    def run(said: str, code: int, lacking: str = "no") -> subprocess.CompletedProcess[str]:
        asked.unlink(missing_ok=True)
        path = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SPDX": str(spdx), "LACKING": lacking}
        return step("scan", record, tmp_path / "holes.csv", **path, ANSWER=said, CODE=str(code))

    return run


def test_every_sbom_and_lock_file_is_scanned(
    scan: Callable[..., subprocess.CompletedProcess[str]], record: Path, tmp_path: Path
) -> None:
    scanned = scan('{"results": []}', 0)
    assert scanned.returncode == 0, scanned.stderr
    asked = (tmp_path / "asked").read_text(encoding="utf-8")
    files = re.findall(r"--lockfile \S+/([\w-]+)\.spdx\.json", asked)
    entries = json.loads(record.read_text())
    assert sorted(files) == sorted(
        f"{name}-{platform.partition('/')[2]}"
        for name, entry in entries.items()
        for platform in entry["platforms"]
    )
    for lock in (ROOT / "scripts").glob("requirements*.txt"):
        assert f"requirements.txt:scripts/{lock.name}" in asked
    assert (tmp_path / "holes.csv").read_text(encoding="utf-8").splitlines() == [
        '"id","package","version","ecosystem","where"'
    ]
    refused = scan('{"results": []}', 0, lacking="yes")
    assert refused.returncode == 1
    assert "has no SBOM for linux/ppc64le" in refused.stderr


@pytest.mark.parametrize(
    ("ecosystem", "affected", "fixed"),
    [
        ("Debian:13", [UNFIXED, ELSEWHERE], None),
        ("Debian:13", [ELSEWHERE, FIXED], "fixed in 1.4"),
        # Of what this project chose, and of what says nothing of this system, a finding without a mend counts too.
        ("Maven", [NEVER], "no version has it mended"),
        ("Debian:13", [ELSEWHERE], "no version has it mended"),
        ("Ubuntu:24.04", [UBUNTU, PAID], None),
    ],
)
def test_a_finding_ends_it_where_something_can_be_done(
    scan: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
    ecosystem: str,
    affected: list[object],
    fixed: str | None,
) -> None:
    done = scan(answer(ecosystem, *affected), 1)
    listed = (tmp_path / "holes.csv").read_text(encoding="utf-8").splitlines()[1:]
    if fixed is None:
        assert done.returncode == 0, done.stderr
        assert listed == [f'"X-1","zlib","1.3","{ecosystem}","ping-openj9-arm64"']
    else:
        assert done.returncode == 1
        assert f"scan: X-1 in zlib 1.3 ({ecosystem}), {fixed}: ping-openj9-arm64\n" in done.stderr
        assert not listed


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("", 0),
        ("", 1),
        ("no JSON", 0),
        ("{}", 0),
        ('{"results": null}', 0),
        ('{"results": []}', 1),
        ('{"results": []}', 127),
    ],
)
def test_an_answer_that_is_none_ends_it(
    scan: Callable[..., subprocess.CompletedProcess[str]], said: str, code: int
) -> None:
    done = scan(said, code)
    assert done.returncode == 1
    assert f"scan: osv-scanner ended with {code} and does not say what it found" in done.stderr


def test_what_is_accepted_has_a_reason_and_an_end() -> None:
    accepted = tomllib.loads((ROOT / ".github" / "osv-scanner.toml").read_text(encoding="utf-8"))[
        "IgnoredVulns"
    ]
    assert accepted
    for finding in accepted:
        assert set(finding) == {"id", "ignoreUntil", "reason"}
        assert len(finding["reason"]) > 40
        assert isinstance(finding["ignoreUntil"], date)


GH = """#!/bin/sh
case "$1 $2" in
"release list") echo "$TAG" ;;
"release download") [ "$3" = "$TAG" ] && echo '{}' >record.json ;;
esac
"""


@pytest.mark.parametrize(("tag", "scanned"), [("", []), ("v1.2.0", ["record.json"])])
def test_at_night_the_newest_version_is_scanned_where_there_is_one(
    tmp_path: Path, tag: str, scanned: list[str]
) -> None:
    path = ROOT / ".github" / "workflows" / "security.yml"
    steps = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]["holes"]["steps"]
    scripts = tmp_path / ".github" / "scripts"
    scripts.mkdir(parents=True)
    for program, text in (
        (tmp_path / "gh", GH),
        (scripts / "scan.sh", '#!/bin/sh\nprintf "%s\\n" "$@" >asked\n'),
    ):
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "GITHUB_REPOSITORY": "o/r", "TAG": tag}
    for one in steps[-2:]:
        command = ["bash", "-e", "-c", one["run"]]
        subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True)
    assert (tmp_path / "asked").read_text(encoding="utf-8").split() == scanned
    assert "engine" in steps[1]["run"].split()  # reads the SBOMs of the images


def test_the_robot_leaves_alone_what_needs_a_newer_java() -> None:
    """What is accepted for its Java, and what the compiler and the servers' features hold to a release."""
    pom = (ROOT / "pom.xml").read_text(encoding="utf-8")
    java = re.findall(r"<maven.compiler.release>(\d+)<", pom)
    dependencies = re.findall(r"<groupId>([^<]+)</groupId>\s*<artifactId>([^<]+)</artifactId>", pom)
    held = [(r"errorprone", "minor"), (r"^jakarta\.", "minor"), (r"microprofile", "minor")]
    findings = tomllib.loads((ROOT / ".github" / "osv-scanner.toml").read_text(encoding="utf-8"))
    for finding in findings["IgnoredVulns"]:
        needs = re.search(
            r"Apache (\w+) ([\d.]+), .* ([\d.]+) has the fix and needs Java (\d+), and servers run on (\d+)",
            finding["reason"],
        )
        if needs is not None:
            assert [needs[5]] == java
            kinds = zip(("major", "minor", "patch"), needs[2].split("."), needs[3].split("."), strict=False)
            held.append((needs[1].lower(), next(kind for kind, ours, fixed in kinds if ours != fixed)))
    assert len(held) > 3
    updates = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    (maven,) = (one for one in updates if one["package-ecosystem"] == "maven")
    for pattern, kind in held:
        names = [":".join(pair) for pair in dependencies if re.search(pattern, ":".join(pair))]
        assert names, pattern
        for name in names:
            left_alone = {
                update
                for one in maven["ignore"]
                if fnmatch(name, one["dependency-name"])
                for update in one["update-types"]
            }
            assert f"version-update:semver-{kind}" in left_alone, name
