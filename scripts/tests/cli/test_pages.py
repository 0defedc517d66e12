# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/ as a whole: each is reached, diagrams are current, and tables of names have every name."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
import yaml

from pages.diagrams import DIAGRAMS, IMAGES
from pages.hooks import ADOPTED, FIRST_IN_SEARCH, LAST_IN_SEARCH, REPOSITORY, SEARCHED_AS, rewrite_links
from pages.method_diagrams import NARROW, RESULTS, percent
from pages.screens import BY_HAND, CALLOUTS, LARGEST, RECIPES, WIDEST
from pages.site import requests_elsewhere
from steelyard.experiment.loader import load_experiment
from steelyard.experiment.schema import EngineName, ProcedureName
from steelyard.host.states import STATES
from steelyard.measure.ledger import PARTNER
from steelyard.measure.registry import RULES
from steelyard.paths import EXPERIMENTS, ROOT
from steelyard.session.plan import host_checks
from steelyard.workload.loader import load_workload, workload_names

DOCS = ROOT / "docs"
PAGES = sorted(
    path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if "examples" not in path.parts
)


def site_pages(entry: object) -> Iterator[str]:
    """The pages that a part of the navigation names."""
    match entry:
        case str():
            yield entry
        case list():
            for part in entry:
                yield from site_pages(part)
        case dict():
            for part in entry.values():
                yield from site_pages(part)


def test_the_navigation_has_each_page_once() -> None:
    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    assert sorted(site_pages(navigation)) == sorted([*PAGES, *ADOPTED.values()])


FIRST_SCREEN = 40
_BLOCK = re.compile(r"^```\w*\n(.*?)^```|^    (\S.*)$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(
    r"^(?:sudo )?(?:[A-Z_]+=\S+ )*"
    r"(?:\./steelyard|steelyard|\S*python3?|docker|kubectl|kind|git|cd|apt-get|pipx|cosign|gh|mvn|curl|install|mkdir) "
    r"|^ +- (?:run|uses): ",  # a step of a workflow
    re.MULTILINE,
)
NO_COMMAND = {"releasing.md"}
"""Pages whose reader types nothing: a workflow does the work."""


def shows_a_command(text: str) -> bool:
    """Whether a block of the first screen has a line that can be pasted."""
    lines = "\n".join(text.splitlines()[:FIRST_SCREEN])
    blocks = _BLOCK.findall(f"{lines}\n```\n" if lines.count("\n```") % 2 else lines)
    return any(_COMMAND.search(fenced or indented) for fenced, indented in blocks)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_a_command_on_its_first_screen(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    assert text.startswith("<!-- SPDX-License-Identifier: Apache-2.0 -->\n")
    assert shows_a_command(text) != (page in NO_COMMAND)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("```\nresults/\n  session.json\n```\n", False),
        ("`./steelyard list` shows them\n", False),
        ("```\n./steelyard list\n```\n", True),
        ("    cd compose/ping\n", True),
        ("\n" * FIRST_SCREEN + "```\n./steelyard list\n```\n", False),
    ],
)
def test_only_a_block_with_a_command_is_one(text: str, shown: bool) -> None:
    assert shows_a_command(text) == shown


LONGEST = 620
"""Characters of a paragraph: about five lines of 120."""


PROSE = [
    *(page for page in PAGES if not page.startswith("lab-notes/")),
    *(f"../{path}" for path in ADOPTED),
    *(f"../{top}README.md" for top in ("", "compose/", "experiments/", "k8s/")),
]


@pytest.mark.parametrize("beginning", [*FIRST_IN_SEARCH, *LAST_IN_SEARCH, *SEARCHED_AS])
def test_each_rank_of_the_search_belongs_to_a_page(beginning: str) -> None:
    """A page that is renamed would lose its place in the search, and nobody would see it."""
    assert any(page.startswith(beginning) for page in (*PAGES, *ADOPTED.values()))


@pytest.mark.parametrize("page", PROSE)
def test_a_page_is_no_wall_of_text(page: str) -> None:
    text = re.sub(
        r"^```.*?^```", "", (DOCS / page).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    parts = re.split(r"\n\s*\n|\n(?=\s*(?:[-*|]|\d+\.) )", text)
    assert [part for part in parts if len(part) > LONGEST and not part.startswith("|")] == []


def test_diagrams_are_what_the_program_draws() -> None:
    assert {path.stem for path in IMAGES.glob("*.svg")} == set(DIAGRAMS)
    for name, draw in DIAGRAMS.items():
        written = (IMAGES / f"{name}.svg").read_text(encoding="utf-8")
        assert written == draw().render(), f"{name}: run `python -m pages.diagrams` in scripts/"


@pytest.mark.parametrize("name", DIAGRAMS)
def test_each_diagram_is_on_a_page(name: str) -> None:
    texts = [path.read_text(encoding="utf-8") for path in (*DOCS.rglob("*.md"), ROOT / "README.md")]
    assert any(f"images/{name}.svg)" in text for text in texts)


def test_each_picture_has_a_recipe_and_is_small() -> None:
    pictures = {path.relative_to(DOCS).as_posix(): path.read_bytes() for path in DOCS.rglob("*.png")}
    drawn = {f"images/{name}.png" for name in RECIPES}
    assert pictures.keys() == drawn | BY_HAND.keys(), "run `python -m pages.screens` in scripts/"
    assert not drawn & BY_HAND.keys()
    for name, picture in pictures.items():
        # Width and height are the first words of the first chunk (PNG specification, 11.2.2).
        width = int.from_bytes(picture[16:20], "big")
        assert width <= WIDEST, name
        assert len(picture) <= LARGEST, name


@pytest.mark.parametrize("name", sorted(path.stem for path in IMAGES.glob("*.png")))
def test_each_picture_is_on_a_page(name: str) -> None:
    assert any(f"images/{name}.png)" in path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))


def test_the_explained_report_has_a_line_for_each_number() -> None:
    text = (DOCS / "how-to" / "read-a-report.md").read_text(encoding="utf-8")
    below = text.partition("images/report-explained.png)\n\n")[2].partition("\n\n")[0]
    numbers = [int(line.partition(".")[0]) for line in below.splitlines()]
    assert numbers == list(range(1, len(CALLOUTS) + 1))


def test_pictures_of_the_readme_can_be_read_on_a_telephone() -> None:
    shown = re.findall(r"docs/images/([\w-]+)\.svg\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert {"answer", "false-alarms"} <= set(shown)
    assert all(DIAGRAMS[name]().width <= NARROW for name in shown)


@pytest.mark.parametrize("page", ["README.md", "docs/tutorials/first-report.md"])
def test_a_page_tells_the_session_that_the_picture_shows(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    first = json.loads((RESULTS / "jvm-count.json").read_text(encoding="utf-8"))["changes"][0]
    low, high = (percent(first[key]).removesuffix(" %") for key in ("low", "high"))
    assert f"{percent(first['change'])} throughput" in text
    assert f"95 % interval {low} to {high} %" in text


@pytest.mark.parametrize("page", ["README.md", "tutorials/first-report.md"])
def test_where_readers_begin_says_how_to_get_it(page: str) -> None:
    """On the site nobody sees the README of the repository."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    lines = [line for line in readme if line.startswith(("apt-get install ", "dnf install ", "git clone "))]
    text = (DOCS / page).read_text(encoding="utf-8")
    assert len(lines) == 3
    assert "\n".join(lines) + "\n./steelyard run jvm-count --quick\n" in text
    assert "how-to/install.md)" in text


@pytest.mark.parametrize("page", ["README.md", "docs/how-to/install.md", "docs/how-to/kubernetes-bundles.md"])
def test_the_first_command_for_a_cluster_comes_after_its_images(page: str) -> None:
    """No cluster can pull what was built on this machine."""
    text = (ROOT / page).read_text(encoding="utf-8")
    before, command, _ = re.split(r"(--engine kubernetes|kubectl apply -k)", text, maxsplit=1)
    assert "[images in a registry of yours](" in before, command


def first_cells(page: str, heading: str) -> list[str]:
    """The names, in back-quotes, of the first column below a heading."""
    text = (DOCS / page).read_text(encoding="utf-8").partition(f"\n{heading}\n")[2]
    rows = re.split(r"^## ", text, maxsplit=1, flags=re.MULTILINE)[0].splitlines()
    cells = [row.split(" | ")[0] for row in rows if row.startswith("| `")]
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


@pytest.mark.parametrize(
    ("page", "jar"), [("tutorials/first-gate.md", "new.jar"), ("how-to/spring-boot.md", "shop.jar")]
)
def test_the_workload_file_of_a_page_is_one(tmp_path: Path, page: str, jar: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    block = next(part for part in text.split("```yaml\n")[1:] if part.startswith("steelyard: 1\n"))
    (tmp_path / "workload.yaml").write_text(block.partition("```")[0], encoding="utf-8")
    workload = load_workload(str(tmp_path / "workload.yaml"))
    assert workload.workload.settings["jar"].default == jar


@pytest.mark.parametrize("page", ["experiments.md", "searches.md", "own-server.md"])
def test_the_experiment_of_a_page_is_one(tmp_path: Path, page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    (block,) = (part for part in text.split("```yaml\n")[1:] if part.startswith("steelyard: 1\n"))
    (tmp_path / "mine.yaml").write_text(block.partition("```")[0], encoding="utf-8")
    experiment = load_experiment(tmp_path / "mine.yaml", host_checks()).experiment
    assert (experiment.search is not None) == (page == "searches.md")


def test_the_page_of_void_trials_has_each_check_and_what_to_do() -> None:
    page = "how-to/void-trials.md"
    assert first_cells(page, "## Checks that void a trial") == [
        *(name for name in first_cells(page, "## Checks that void a trial") if name in VOIDING)
    ]
    assert sorted(first_cells(page, "## Checks that void a trial")) == sorted(VOIDING)
    assert sorted(first_cells(page, "## Checks that only mark a trial")) == sorted(
        rule.name for rule in RULES if not rule.voids
    )
    assert f"`{PARTNER}`" in (DOCS / page).read_text(encoding="utf-8")
    rows = [line for line in (DOCS / page).read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert all(len(row.strip("| ").split(" | ")) == 4 for row in rows)


VOIDING = {rule.name for rule in RULES if rule.voids}


@pytest.mark.parametrize(
    "name",
    [
        *get_args(EngineName),
        *get_args(ProcedureName),
        *STATES,
        *workload_names(),
        *(path.name for path in (ROOT / ".github" / "workflows").glob("*.yml")),
        *("x86-64", "ppc64le", "arm64", "hotspot", "openj9"),
    ],
)
def test_where_each_part_ran_is_told(name: str) -> None:
    assert f"`{name}`" in (DOCS / "reference" / "tested-on.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("page", "text", "link"),
    [
        ("files.md", "[a](explanation/gate.md#duets)", "explanation/gate.md#duets"),
        ("how-to/void-trials.md", "[a](../metrics.md)", "../metrics.md"),
        ("README.md", "[a](../apps/README.md)", "reference/apps.md"),
        ("reference/apps.md", "[a](../docs/files.md#x)", "../files.md#x"),
        ("reference/apps.md", "[a](ping/workload.yaml)", f"{REPOSITORY}/blob/main/apps/ping/workload.yaml"),
        ("own-server.md", "[a](examples/a.yaml)", f"{REPOSITORY}/blob/main/docs/examples/a.yaml"),
        ("contributing.md", "[a](docs/development.md)", "development.md"),
        ("files.md", "[a](https://example.org/a)", "https://example.org/a"),
        ("files.md", "[a](#a-part)", "#a-part"),
    ],
)
def test_links_lead_to_the_same_thing_on_the_site(page: str, text: str, link: str) -> None:
    assert rewrite_links(text, page) == f"[a]({link})"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('<script src="assets/a.js"></script><a href="https://example.org">', 0),
        ('<script src="https://example.org/a.js"></script>', 1),
        ("<link rel=stylesheet href=//example.org/a.css>", 1),
        ('<link rel="canonical" href="https://example.org/">', 0),
        ("<style>a{background:url(https://example.org/a.png)}</style>", 1),
    ],
)
def test_what_a_page_asks_another_host_for_is_seen(tmp_path: Path, text: str, count: int) -> None:
    (tmp_path / "a.html").write_text(text, encoding="utf-8")
    assert len(list(requests_elsewhere(tmp_path))) == count


STUDIES = sorted(path.stem for path in (DOCS / "studies").glob("*.md"))


@pytest.mark.parametrize("study", [name for name in STUDIES if name != "others"])
def test_each_claim_of_a_study_has_one_of_three_verdicts(study: str) -> None:
    text = (DOCS / "studies" / f"{study}.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    header, verdicts = rows[0], [row[-1] for row in rows[2:]]
    assert header[-1] == "verdict"
    assert verdicts
    wrong = [v for v in verdicts if not re.match(r"\*\*(?:upheld|refuted|undecided)\*\*(?:: .+)?$|-$", v)]
    assert wrong == []


@pytest.mark.parametrize("study", [name for name in STUDIES if name != "others"])
def test_the_list_of_studies_has_the_verdict_of_the_page(study: str) -> None:
    """The words of it, and no verdict that none of the claims has or that one has beside it."""
    page = (DOCS / "studies" / f"{study}.md").read_text(encoding="utf-8")
    (row,) = (
        line
        for line in (DOCS / "studies.md").read_text(encoding="utf-8").splitlines()
        if f"/{study}.md" in line
    )
    told = row.strip("| ").split(" | ")[-1]
    assert f"\n**Verdict so far**: {told}.\n" in page
    claims = set(re.findall(r"\| \*\*(upheld|refuted|undecided)\*\*", page))
    assert set(re.findall(r"\b(upheld|refuted|undecided)\b", told)) == claims


def test_a_study_names_its_address_or_that_it_was_not_kept() -> None:
    for study in STUDIES:
        text = (DOCS / "studies" / f"{study}.md").read_text(encoding="utf-8")
        if study == "others":
            heads = ("| comparison", "| ---")
            told = [s for s in text.splitlines() if s.startswith("| ") and not s.startswith(heads)]
        else:
            told = [line for line in text.splitlines() if line.startswith("**The study**: ")]
        assert told
        assert [s for s in told if "](https://" not in s.split(" | ")[0] and "ddress not kept" not in s] == []


def test_pages_and_experiments_have_the_same_addresses() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "studies").glob("*.md"))
    studies = [load_experiment(path, host_checks()).experiment.study for path in EXPERIMENTS.glob("*.yaml")]
    addresses = {study.address for study in studies if study is not None and study.address is not None}
    assert addresses
    assert [address for address in addresses if f"]({address})" not in pages] == []
