# SPDX-License-Identifier: Apache-2.0
"""A release without a forge: every step of one, for every image of a definition, against a registry on this machine.

    python3 -m suite.rehearse DEFINITION FOLDER

DEFINITION: what `steelyard images build --print` prints, for a path of 127.0.0.1 that nothing else uses. FOLDER gets
a log for each step, the record, and `table.md`: each image, platform and step, with what came of it. At the end the
half-made version is taken back. Exit code 1 when a step failed. In scripts/; the environment variable SBOM as for
build.sh. Bundles name every image: of a definition that leaves some out none are made. Needs what the steps need:
docker, skopeo, jq, curl; cosign for signatures; osv-scanner, which asks the internet, for known holes.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from suite.version import current_version, image_targets

ROOT = Path(__file__).resolve().parents[2]
STEPS = ROOT / ".github" / "scripts"
COLUMNS = ("built", "started", "SBOM", "signed", "bundled", "pulled", "named", "taken back")
LEFT_OUT = "no"


class StepFailed(Exception):
    """A step ended with another code than it has to; its last words."""


@dataclass
class Rehearsal:
    """The steps in their order, and what came of each for each image and platform."""

    definition: Path
    folder: Path
    cells: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """By target and platform: by column what came of it."""

    @property
    def record(self) -> Path:
        """What was pushed."""
        return self.folder / "record.json"

    @property
    def new_record(self) -> Path:
        """The record of what started."""
        return self.folder / "published.json"

    def run(self, name: str, *command: str | Path, code: int = 0) -> str:
        """What a command printed; its log stays (raises StepFailed: it ended otherwise)."""
        log = self.folder / f"{name}.log"
        environment = {**os.environ, "COSIGN_PASSWORD": ""}
        with log.open("w", encoding="utf-8") as output:
            code_returned = subprocess.run(
                command,
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                check=False,
            ).returncode
        output_text = log.read_text(encoding="utf-8", errors="replace")
        if code_returned != code:
            raise StepFailed(f"{name} ended with {code_returned}: {output_text[-800:].strip()}; see {log}")
        return output_text

    def step(self, name: str, *arguments: str | Path, code: int = 0, log: str = "") -> str:
        """Run a script of the release."""
        return self.run(log or name, STEPS / f"{name}.sh", *arguments, code=code)

    def put(self, column: str, outcome: str, where: Callable[[str, str], bool] = lambda *_: True) -> None:
        """Note what came of a column, for all or for some."""
        for (target, platform), cells in self.cells.items():
            if where(target, platform):
                cells[column] = outcome

    def all_steps(self) -> None:
        """From free names to names that are free again (raises StepFailed)."""
        self.step("free", self.definition)
        self.step("build", self.definition, self.record)
        entries = json.loads(self.record.read_text(encoding="utf-8"))
        self.cells = {
            (target, platform): dict.fromkeys(COLUMNS, LEFT_OUT)
            for target, entry in entries.items()
            for platform in (*entry["platforms"], *entry["missing"])
        }
        for (target, platform), cells in self.cells.items():
            why = entries[target]["missing"].get(platform)
            cells["built"] = "yes" if why is None else f"no: {why}"
        self._start(sorted({platform for entry in entries.values() for platform in entry["platforms"]}))
        is_left = self._drop()
        if os.environ.get("SBOM"):
            self.step("parts", self.new_record, self.folder / "third-party.csv")
            if shutil.which("osv-scanner") is not None:
                self.step("scan", self.new_record, self.folder / "known-holes.csv")
            self.put("SBOM", "yes", is_left)
        if shutil.which("cosign") is not None:
            self._sign()
            self.put("signed", "yes, verified", is_left)
        if self._bundle():
            self.put("bundled", "yes", is_left)
        self._pull()
        self.put("pulled", "yes", is_left)
        self.step("tag", self.new_record)
        self.step("tag", self.new_record, log="tag-again")
        self.step("public", self.new_record)
        self.put("named", "yes", is_left)
        self.step("undo", self.new_record)
        # What was taken back is free for the next try.
        self.step("free", self.definition, log="free-again")
        self.put("taken back", "yes", is_left)

    def _start(self, platforms: Sequence[str]) -> None:
        for platform in platforms:
            result = self.folder / f"started-{platform.partition('/')[2]}.json"
            self.step(
                "start-record", platform, self.record, result, log=f"start-{platform.partition('/')[2]}"
            )
            failed = {
                failure["target"]: failure["why"]
                for failure in json.loads(result.read_text(encoding="utf-8"))["failed"]
            }
            for (target, own), cells in self.cells.items():
                if own == platform and cells["built"] == "yes":
                    cells["started"] = f"no: {failed[target]}" if target in failed else "yes"

    def _drop(self) -> Callable[[str, str], bool]:
        """Leave out what did not start; tells what is left."""
        results = sorted(self.folder.glob("started-*.json"))
        self.step("drop", self.record, self.new_record, self.folder / "notes.md", *results)
        left = json.loads(self.new_record.read_text(encoding="utf-8"))
        return lambda target, platform: platform in left[target]["platforms"]

    def _sign(self) -> None:
        key = self.folder / "cosign.key"
        for name in ("cosign.key", "cosign.pub"):
            (self.folder / name).unlink(missing_ok=True)
        self.run("keys", "cosign", "generate-key-pair", "--output-key-prefix", str(key.with_suffix("")))
        self.step("sign", self.new_record, key)
        verify = ["cosign", "verify", "--key", str(key.with_suffix(".pub"))]
        verify += ["--insecure-ignore-tlog=true", "--allow-http-registry"]
        for target, reference in references(self.new_record).items():
            self.run(f"verify-{target}", *verify, *reference)

    def _bundle(self) -> bool:
        """Pack the bundles with the digests of the new record, if it has all images that they name."""
        every = {target for targets in image_targets(ROOT).values() for target in targets}
        if not every <= set(references(self.new_record)):
            return False
        archive = self.folder / f"steelyard-bundles-{current_version(ROOT)}.tar.gz"
        script = ROOT / "scripts" / "suite" / "bundles.py"
        self.run("bundles", sys.executable, script, self.new_record, archive, "https://example.test")
        return True

    def _pull(self) -> None:
        """Pull each platform that is left by the digest of the index, as whoever takes the bundles does."""
        record = json.loads(self.new_record.read_text(encoding="utf-8"))
        for target, (index, *_) in references(self.new_record).items():
            for platform in record[target]["platforms"]:
                log = f"pull-{target}-{platform.partition('/')[2]}"
                self.run(log, "docker", "pull", "--quiet", "--platform", platform, index)

    def table(self) -> str:
        """Each image and platform, in Markdown."""
        lines = [f"| image | platform | {' | '.join(COLUMNS)} |", "| --- " * (len(COLUMNS) + 2) + "|"]
        for (target, platform), cells in self.cells.items():
            lines.append(f"| `{target}` | {platform} | {' | '.join(cells[name] for name in COLUMNS)} |")
        return "\n".join(lines) + "\n"


def references(record: Path) -> Mapping[str, list[str]]:
    """By target what was pushed, by digest: the index, and each platform of it."""
    by_target = {}
    for target, entry in json.loads(record.read_text(encoding="utf-8")).items():
        name = entry["image.name"].partition(",")[0].rpartition(":")[0]
        by_target[target] = [
            f"{name}@{digest}" for digest in (entry["containerimage.digest"], *entry["platforms"].values())
        ]
    return by_target


def main(arguments: list[str]) -> int:
    """The command; 0, 1 with a sentence when a step failed, or 2."""
    if len(arguments) != 2:
        print("usage: python3 -m suite.rehearse DEFINITION FOLDER", file=sys.stderr)  # noqa: T201
        return 2
    definition, folder = (Path(argument).resolve() for argument in arguments)
    folder.mkdir(parents=True, exist_ok=True)
    rehearsal = Rehearsal(definition, folder)
    try:
        rehearsal.all_steps()
    except StepFailed as error:
        print(f"rehearse: {error}", file=sys.stderr)  # noqa: T201
        return 1
    finally:
        (folder / "table.md").write_text(rehearsal.table(), encoding="utf-8")
    print(rehearsal.table(), end="")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
