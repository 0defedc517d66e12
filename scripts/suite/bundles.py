# SPDX-License-Identifier: Apache-2.0
"""The bundles of a release as one archive of digests: python3 scripts/suite/bundles.py RECORD ARCHIVE ADDRESS

RECORD is what build.sh wrote, ARCHIVE steelyard-bundles-VERSION.tar.gz, ADDRESS the repository's on the web. The
archive holds compose/ and k8s/ as they are here, but for this: each image of ours is the digest that was published,
nothing is built, comments name documents by their addresses at the tag, and hotspot.env and ppc64le.env beside the
compose bundles name the images on HotSpot. The same commit and record give the same bytes. Needs git and nothing but
Python.
"""

import gzip
import io
import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

UNPUBLISHED = "localhost/steelyard"
"""Registry and path of the bundles in a checkout."""
_LEGAL = "images/legal/"
_FOLDERS = (
    *("compose", ":!compose/README.md", "k8s", ":!k8s/README.md", ":!k8s/local", ":!k8s/components/registry"),
    _LEGAL,
)
"""As git's pathspecs; the archive has a README of its own."""
_BUILD_OPTION = re.compile(r"^(\s*#   .*) --build\b", re.MULTILINE)
_ON_BUILDING = re.compile(r"^\s*#.*(?:--build|compose build)\b.*\n", re.MULTILINE)
_DOCUMENT = re.compile(r"(?<![\w/.-])(?=(?:docs|loadgen)/[\w/.-]+\.md\b)")
_LAUNCHER = re.compile(r"(?<![\w/.-])(?:\.\./\.\.|\.)/steelyard\b")
_COMPOSE = re.compile(
    r"\$\{STEELYARD_REGISTRY:-localhost/steelyard\}/([\w-]+):\$\{STEELYARD_VERSION:-([^}]+)\}(-\$\{STEELYARD_FLAVOUR:-openj9\})?"
)
_KUBERNETES = re.compile(r"localhost/steelyard/([\w-]+):([\w.-]+)")
_RENAMED = re.compile(r"\{name: localhost/steelyard/([\w-]+), newTag: ([\w.-]+)\}")
_LOCKED = re.compile(r"^FROM (\S+)@(sha256:[0-9a-f]{64}) AS \w+$", re.MULTILINE)
_REPLACED = re.compile(r"newName: localhost/steelyard/([\w-]+), newTag: ([\w.-]+)\}")
_READ_ME = """\
# Steelyard {version}: bundles

Images are named by digests; ours are those that were published with this version. With a container
engine and nothing else:

    cd compose/acmeair-monolith
    docker compose up                                          AcmeAir with its data, on http://127.0.0.1:9080

The same on HotSpot: docker compose --env-file ../hotspot.env up. In a Kubernetes cluster:

    kubectl apply -k k8s/acmeair-monolith

On ppc64le, where neither OpenJ9's images nor MongoDB's need be (the release page says what is missing):

    docker compose --env-file ../ppc64le.env up                in compose/acmeair-monolith
    kubectl apply -k k8s-ppc64le                               a folder of yours with this kustomization.yaml:

    apiVersion: kustomize.config.k8s.io/v1beta1
    kind: Kustomization
    resources: [../k8s/acmeair-monolith]
    components: [../k8s/components/hotspot, ../k8s/components/embedded-mongo]

Each bundle's first lines say what else it does. Your own registry: put its name before the digests.
STEELYARD_FLAVOUR, STEELYARD_VERSION and STEELYARD_REGISTRY choose no image here, but those that the harness of
jvm-count starts: name an --env-file. What is published under which licence: LICENSE, NOTICES.
Documents: {address}docs/README.md
"""


class Digests:
    """References by digest, of what a record says was published."""

    def __init__(self, record: Mapping[str, Mapping[str, str]]) -> None:
        self._by_tag = {
            name.rpartition("/")[2]: f"{name.rpartition(':')[0]}@{entry['containerimage.digest']}"
            for entry in record.values()
            for name in entry["image.name"].split(",")
        }
        registries = {reference.partition("@")[0].rpartition("/")[0] for reference in self._by_tag.values()}
        if len(registries) != 1:
            raise ValueError(f"the record is of {len(registries)} registries and paths, not of one")
        self.registry = registries.pop()

    def find(self, image: str, tag: str) -> str:
        """The reference of an image (raises ValueError: it was not published)."""
        if (name := f"{image}:{tag}") not in self._by_tag:
            raise ValueError(f"the record does not have {name}")
        return self._by_tag[name]

    def hotspot(self) -> dict[str, str]:
        """By image the one on HotSpot."""
        return {
            name.partition(":")[0]: reference
            for name, reference in sorted(self._by_tag.items())
            if name.endswith("-hotspot")
        }


def variable(image: str) -> str:
    """The variable by which a compose bundle of the archive takes another image."""
    return f"STEELYARD_{image.upper().replace('-', '_')}_REFERENCE"


def pin_compose(text: str, digests: Digests) -> str:
    """A compose file with digests, and nothing to build."""

    def reference(match: re.Match[str]) -> str:
        image, version, flavoured = match.groups()
        digest = digests.find(image, f"{version}-openj9" if flavoured else version)
        return f"${{{variable(image)}:-{digest}}}" if flavoured else digest

    kept, depth = [], -1
    for line in text.splitlines(keepends=True):
        indent = len(line) - len(line.lstrip())
        if depth >= 0 and (indent > depth or not line.strip()):
            continue
        depth = indent if line.strip() == "build:" else -1
        if depth < 0:
            kept.append(line)
    pinned = _COMPOSE.sub(reference, "".join(kept))
    # The harness in a container finds the other images by their names.
    return pinned.replace("${STEELYARD_REGISTRY:-}", f"${{STEELYARD_REGISTRY:-{digests.registry}}}")


def pin_kubernetes(text: str, digests: Digests) -> str:
    """A manifest or kustomization with digests."""

    def digest_of(match: re.Match[str]) -> str:
        return f"{digests.find(match[1], match[2]).replace('@', ', digest: ')}}}"

    text = _RENAMED.sub(lambda match: f"{{name: {digest_of(match)}", text)
    text = _REPLACED.sub(lambda match: f"newName: {digest_of(match)}", text)
    text = _KUBERNETES.sub(lambda match: digests.find(match[1], match[2]), text)
    return text.replace(f"value: {UNPUBLISHED}}}", f"value: {digests.registry}}}")


def point_elsewhere(text: str, address: str) -> str:
    """A file whose comments hold outside of a checkout.

    Args:
        text: the file.
        address: of the repository at the tag, to which a path is added.

    Returns:
        Documents by their addresses, the command as the wheel installs it, and no word on building.
    """
    text = _ON_BUILDING.sub("", _BUILD_OPTION.sub(r"\1", text))
    return _LAUNCHER.sub("steelyard", _DOCUMENT.sub(address, text))


def pin_others(text: str, locked: Mapping[str, str]) -> str:
    """A file with the digests of databases and proxies, which stay behind their tags."""
    for reference, digest in locked.items():
        text = re.sub(rf"{re.escape(reference)}(?![\w.@-])", f"{reference}@{digest}", text)
    return text


def settings_of(references: Mapping[str, str], mongo: str = "") -> str:
    """A file of settings by which compose bundles run on HotSpot, and with another database.

    The flavour is for the harness of an experiment, which names images itself.
    """
    lines = [f"{variable(image)}={reference}" for image, reference in references.items()]
    lines += ["STEELYARD_FLAVOUR=hotspot", *([f"STEELYARD_MONGO_IMAGE={mongo}"] if mongo else [])]
    return "\n".join(["# SPDX-License-Identifier: Apache-2.0", *lines, ""])


def files_of(root: Path, digests: Digests, version: str, address: str) -> dict[str, bytes]:
    """What the archive holds, by name; address is the repository's on the web.

    Raises:
        ValueError: an image was not published, or one is left that is none of the record's.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *_FOLDERS], cwd=root, capture_output=True, text=True, check=True
    )
    address = f"{address.rstrip('/')}/blob/v{version}/"
    files = {"README.md": _READ_ME.format(version=version, address=address)}
    # A release refuses those that have none (`images lock --check`).
    locked = dict(_LOCKED.findall((root / "images" / "others" / "Containerfile").read_text(encoding="utf-8")))
    for name in filter(None, listed.stdout.split("\0")):
        text = (root / name).read_text(encoding="utf-8")
        if name.startswith(_LEGAL):
            files[name.removeprefix(_LEGAL)] = text
            continue
        text = point_elsewhere(text, address)
        pin = pin_compose if name.startswith("compose/") else pin_kubernetes
        files[name] = pin_others(pin(text, digests), locked) if name.endswith(".yaml") else text
        if UNPUBLISHED in files[name]:
            raise ValueError(f"{name} still names an image that exists on one machine alone ({UNPUBLISHED})")
    files["compose/hotspot.env"] = settings_of(digests.hotspot())
    files["compose/ppc64le.env"] = settings_of(digests.hotspot(), digests.find("embedded-mongo", version))
    return {name: text.encode() for name, text in sorted(files.items())}


def write_archive(path: Path, files: Mapping[str, bytes], folder: str, epoch: int) -> None:
    """Write files into one folder of a .tar.gz; epoch is the time of all, seconds since 1970."""
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=epoch) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for name, content in files.items():
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mtime, entry.mode = len(content), epoch, 0o644
            archive.addfile(entry, io.BytesIO(content))


def version_in(archive: Path) -> str:
    """The version that an archive's name ends with (raises ValueError: it is called otherwise)."""
    if (match := re.fullmatch(r"steelyard-bundles-(.+)\.tar\.gz", archive.name)) is None:
        raise ValueError(f"the archive is called steelyard-bundles-VERSION.tar.gz, not {archive.name}")
    return match[1]


def main(arguments: list[str]) -> int:
    """The command; 0, or 2 with a sentence."""
    root = Path(__file__).resolve().parents[2]
    if len(arguments) != 3:
        print("usage: bundles.py RECORD ARCHIVE ADDRESS", file=sys.stderr)  # noqa: T201
        return 2
    record, archive = map(Path, arguments[:2])
    commit = ["git", "log", "-1", "--format=%ct"]
    epoch = int(subprocess.run(commit, cwd=root, capture_output=True, text=True, check=True).stdout)
    try:
        digests = Digests(json.loads(record.read_text(encoding="utf-8")))
        files = files_of(root, digests, version_in(archive), arguments[2])
        write_archive(archive, files, archive.name.removesuffix(".tar.gz"), epoch)
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        print(f"bundles: {error}", file=sys.stderr)  # noqa: T201
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
