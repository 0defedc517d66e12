# SPDX-License-Identifier: Apache-2.0
"""What documents tell people to type, against the command line, the experiments and the workloads that there are."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from pages.reference import PAGES
from steelyard.cli.app import app
from steelyard.experiment.loader import experiment_files, load_experiment
from steelyard.experiment.settings import Settings
from steelyard.paths import EXPERIMENTS, ROOT
from steelyard.session.plan import host_checks
from steelyard.workload.loader import load_workload
from suite.__main__ import parser as suite_parser

COMMANDS = ROOT / "docs" / "commands.md"
EXAMPLE = ROOT / "docs" / "examples" / "fuseki" / "workload.yaml"
DOCUMENTS = [
    *ROOT.glob("*.md"),
    # what is typed on the page of mistakes is wrong
    *(page for page in ROOT.glob("docs/**/*.md") if page.name != "mistakes.md"),
    *ROOT.glob("docs/examples/*/*.yaml"),
    *(ROOT / top / "README.md" for top in ("apps", "compose", "experiments", "images", "k8s", "loadgen")),
    *ROOT.glob("apps/*/workload.yaml"),
    *ROOT.glob("experiments/*.yaml"),
]
# As it is typed, up to what ends it in prose or in a block: a back-quote, a comment, a pipe, a redirection.
# The program is a checkout's own, or the installed one at the beginning of a line or of a piece of code.
_TYPED = re.compile(
    r"(?:\./steelyard|/[\w./-]+/steelyard(?= +[a-z])|(?<=`)steelyard|^ {0,4}steelyard(?= [a-z]+(?: |$)))"
    r"((?: +[^\s`#|>&();]+)+)",
    re.MULTILINE,
)
_CONTINUED = re.compile(r"\\\n\s*")
_LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\[?[A-Z][A-Z_]*\]?|.*SESSION.*|\.\.\.")


Command = TyperCommand | TyperGroup


class Typed(NamedTuple):
    document: Path
    words: list[str]

    def __str__(self) -> str:
        return f"{self.document.relative_to(ROOT)}: ./steelyard {' '.join(self.words)}"


def typed() -> Iterator[Typed]:
    for document in DOCUMENTS:
        text = _CONTINUED.sub(" ", document.read_text(encoding="utf-8"))
        for match in _TYPED.finditer(text):
            words = shlex.split(match[1])
            ends = next((at for at, word in enumerate(words) if word[-1] in ",.:"), len(words) - 1)
            yield Typed(document, [*words[:ends], words[ends].rstrip(",.:")])


@cache
def root() -> TyperGroup:
    found = typer.main.get_command(app)
    assert isinstance(found, TyperGroup)
    return found


def command_of(words: list[str]) -> tuple[Command, list[str]]:
    """The command that the words name, and the words after its name."""
    found: Command = root()
    while isinstance(found, TyperGroup) and words and words[0] in found.commands:
        found, words = found.commands[words[0]], words[1:]
    return found, words


def options(command: Command) -> dict[str, TyperOption]:
    return {
        name: one
        for one in command.params
        if isinstance(one, TyperOption)
        for name in (*one.opts, *one.secondary_opts)
    }


def arguments(command: Command, words: list[str]) -> list[str]:
    """The words that are neither an option nor an option's value; an unknown option is an assertion."""
    known, found, at = options(command), [], 0
    while at < len(words) and words[at] != "--":
        word = words[at]
        if word.startswith("--"):
            name = word.partition("=")[0]
            assert name in known or name in ("--help", "--version"), f"there is no option {name}"
            at += 1 if "=" in word or name not in known or known[name].is_flag else 2
        else:
            found.append(word)
            at += 1
    return found


def values(command: Command, words: list[str], option: str) -> list[str]:
    assert option in options(command)
    return [after for word, after in pairwise(words) if word == option]


def test_each_way_of_typing_it_is_seen() -> None:
    lines = {(one.document.name, " ".join(one.words[:2])) for one in typed()}
    assert {("install.md", "plan jvm-count"), ("install.md", "init my-server")} <= lines
    assert ("own-server.md", "init my-server") in lines


@pytest.mark.parametrize("example", [pytest.param(one, id=str(one)) for one in typed()])
def test_what_is_typed_is_there(example: Typed) -> None:
    command, words = command_of(example.words)
    if command.name == "test":
        suite_parser().parse_args([word for word in words if word != "--help"])
        return
    if _PLACEHOLDER.fullmatch(example.words[0]):
        return
    assert not isinstance(command, TyperGroup) or words[0].startswith("--"), f"there is no command {words[0]}"
    given = arguments(command, words)
    if not given or _PLACEHOLDER.fullmatch(given[0]):
        return
    if command.name in ("run", "plan"):
        _is_experiment(command, words, given[0])
    if command.name == "up":
        known = Settings(load_workload(_workload(given[0])).workload, host_checks())
        _are_settings(known, values(command, words, "--set"))


def _is_experiment(command: Command, words: list[str], name: str) -> None:
    files = experiment_files(EXPERIMENTS)
    if name.endswith(".yaml"):
        return
    assert name in files, f"there is no experiment {name}"
    workload = next((_workload(one) for one in values(command, words, "--workload")), None)
    known = load_experiment(files[name], host_checks(), workload).settings
    _are_settings(known, values(command, words, "--set"))


def _workload(told: str) -> str:
    """A name as it is; the file of a folder that pages have their reader make is the example's."""
    return str(EXAMPLE) if told.endswith(".yaml") else told


def _are_settings(known: Settings, given: list[str]) -> None:
    for setting in given:
        name, _, value = setting.partition("=")
        if not _PLACEHOLDER.fullmatch(name):
            assert value
            known.section(name)


def test_the_page_of_commands_has_every_command_and_option_and_no_other() -> None:
    text = COMMANDS.read_text(encoding="utf-8")
    commands = root().commands
    there = {
        name
        for one in (*commands.values(), *_group("host"), *_group("history"), *_group("journey"))
        if not isinstance(one, TyperGroup)
        for name, option in options(one).items()
        if not option.hidden
    }
    for name in commands:
        assert re.search(rf"`[^`]*\b{name}\b[^`]*`", text), f"{COMMANDS.name} does not name {name}"
    told = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text)) - {"--check", *options(root()), "--help"}
    of_images = {name for command in _group("images") for name in options(command)}
    of_tests = {name for action in suite_parser()._actions for name in action.option_strings} - {
        "-h",
        "--help",
    }
    assert told <= there | of_images | of_tests, sorted(told - there - of_images - of_tests)
    assert there | of_tests <= told


def _group(name: str) -> list[Command]:
    group = root().commands[name]
    assert isinstance(group, TyperGroup)
    return list(group.commands.values())


def test_recipes_of_the_gate_set_what_its_script_reads() -> None:
    script = (ROOT / ".github" / "scripts" / "gate.sh").read_text(encoding="utf-8")
    recipe = (ROOT / "docs" / "how-to" / "gate-on-gitlab.md").read_text(encoding="utf-8")
    given = set(re.findall(r"(?:^|\s)([A-Z_]{4,})=", recipe.partition(".github/scripts/gate.sh\n")[0]))
    assert {"BASELINE", "CANDIDATE"} <= given
    assert given <= set(re.findall(r"\$\{?([A-Z_]+)", script))


GUIDES = [one for one in DOCUMENTS if one.parent.name in ("how-to", "tutorials")]


def test_gates_of_guides_weigh_the_readers_own_server() -> None:
    """A commit, and `checkout`, are those of Steelyard itself."""
    gates = [one.words for one in typed() if one.document in GUIDES and one.words[0] == "gate"]
    assert gates
    for words in gates:
        sides = [after for word, after in pairwise(words) if word in ("--baseline", "--candidate")]
        assert all("=" in side for side in sides), words
        assert "--workload" in words or not sides, words


def test_jobs_that_gate_fetch_steelyard_and_trust_the_file() -> None:
    """The checkout of a job is the reader's repository."""
    jobs = [
        (block, steps)
        for document in GUIDES
        for block in re.findall(r"```yaml\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL)
        for steps in re.split(r"steps:|script:", block)[1:]
        if re.search(r"steelyard gate |gate\.sh", steps)
    ]
    assert jobs
    for block, steps in jobs:
        assert "git clone" in steps
        assert "gate.sh" in steps or "STEELYARD_TRUST" in block


@pytest.mark.parametrize("document", [one for one in DOCUMENTS if one.suffix == ".md"], ids=str)
def test_links_lead_to_files_that_are_there(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    gone = []
    for link, anchor in _LINK.findall(text):
        if "://" in link or link.startswith("mailto:"):
            continue
        target = document.parent / link if link else document
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            gone.append(f"{link}#{anchor}")
    assert not gone


_TOPS = r"compose|k8s|images|scripts|\.github|apps|experiments|docs|loadgen"
_PATH = re.compile(rf"(?<![\w./$}}~:@-])((?:{_TOPS})/[\w./-]+\w)")
_CODE = re.compile(r"^```[a-z]*\n(.*?)^```|`([^`\n]+)`", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("document", [one for one in DOCUMENTS if one.suffix == ".md"], ids=str)
def test_paths_of_the_checkout_that_are_typed_are_there(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    named = {path for parts in _CODE.findall(text) for part in parts for path in _PATH.findall(part)}
    gone = [
        path
        for path in named
        if not re.search(r"[A-Z]{3}|/target/", path.replace("README", ""))
        and not any(
            place.exists() or list(place.parent.glob(f"{place.name}*")) for place in places(document, path)
        )
    ]
    assert not gone


def places(document: Path, path: str) -> tuple[Path, Path]:
    """Where a path leads that is typed on a page: from the top of the checkout, or from the page's folder."""
    return ROOT / path, document.parent / path


def test_pages_made_of_the_code_are_current() -> None:
    for name, write in PAGES.items():
        written = (ROOT / "docs" / "reference" / f"{name}.md").read_text(encoding="utf-8")
        assert written == write(), f"{name}.md: run `python -m pages.reference` in scripts/"


def anchors(document: Path) -> set[str]:
    """The headings of a document, as GitHub names them in links."""
    headings = _HEADING.findall(document.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}
