# SPDX-License-Identifier: Apache-2.0
"""Hooks of MkDocs (mkdocs.yml). The pages are written for GitHub: a link may lead anywhere in the checkout.

On the site a link to a page stays one, the READMEs of folders become pages of the reference, and a link to any other
file leads to the repository.
"""

import os
import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = os.environ.get("SITE_REPOSITORY", "https://github.com/OWNER/steelyard")
"""Where links to files lead that are no pages; a workflow names its own."""
ADOPTED = {
    "apps/README.md": "reference/apps.md",
    "loadgen/README.md": "reference/loadgen.md",
    "images/README.md": "reference/images-readme.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
"""Documents beside docs/ that are pages of the site, by their path in the checkout."""
FIRST_IN_SEARCH = (
    *(
        "how-to/",
        "tutorials/",
        "own-server",
        "workloads",
        "experiments",
        "searches",
        "jitserver",
        "openj9",
        "history",
    ),
    *("studies.md", "comparing", "glossary"),
)
"""Beginnings of pages that say what to do."""
LAST_IN_SEARCH = (
    "lab-notes/",
    "rules-and-tests",
    "development",
    "releasing",
    "changelog",
    "reference/experiment-file",
)
"""Beginnings of pages that hold many words that people search for, and seldom the answer."""
SEARCHED_AS = {
    "tutorials/first-report.md": ["getting started", "quick start"],
    "own-server.md": ["measure", "benchmark"],
    "how-to/choose-an-experiment.md": ["garbage collector", "heap size"],
    "how-to/cluster-lab.md": ["two nodes", "dedicated", "separate", "load generator"],
    "how-to/compare-two-jdks.md": ["Java", "upgrade", "versions"],
    "how-to/containers.md": ["Docker"],
    "how-to/gate-on-github.md": ["pull request", "CI"],
    "how-to/install.md": ["download", "setup"],
    "how-to/large-pages.md": ["hugepages"],
    "how-to/share-a-result.md": ["send", "publish", "colleague"],
    "how-to/spring-boot.md": ["actuator", "fat jar"],
    "how-to/void-trials.md": ["exit code 9", "failed", "discarded"],
    "how-to/write-a-journey.md": ["HAR", "record", "scenario"],
}
"""Words that readers type, by the page that they look for; they count as words of its title (mkdocs.yml).

None begins as a short word does (a, in, to): the search takes each typed word for the beginning of one.
"""
_LINK = re.compile(r"(?<=\]\()([^)#\s:]+)(#[^)\s]*)?(?=\))")


def source_of(page: str) -> str:
    """Path in the checkout of a page of the site."""
    return next((source for source, adopted in ADOPTED.items() if adopted == page), f"docs/{page}")


def rewrite_links(markdown: str, page: str) -> str:
    """The text of a page with each link as it has to be on the site.

    Args:
        markdown: as it stands in the checkout.
        page: its path on the site, below docs/.
    """
    source = PurePosixPath(source_of(page))

    def rewrite(match: re.Match[str]) -> str:
        target = normpath(str(source.parent / match[1]))
        anchor = match[2] or ""
        if target.startswith(".."):
            return match[0]
        if target in ADOPTED:
            return relpath(ADOPTED[target], PurePosixPath(page).parent) + anchor
        path = ROOT / target
        if target.startswith("docs/") and path.is_file() and path.suffix in (".md", ".svg", ".png"):
            return relpath(target.removeprefix("docs/"), PurePosixPath(page).parent) + anchor
        if target == "README.md":
            return relpath("README.md", PurePosixPath(page).parent)
        return f"{REPOSITORY}/{'tree' if path.is_dir() else 'blob'}/main/{target}{anchor}"

    return _LINK.sub(rewrite, markdown)


def make_anchor(heading: str, separator: str) -> str:
    """The anchor of a heading as GitHub makes it, so that one link leads there in both places."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", separator)


def on_config(config: Any, **_: Any) -> Any:
    """Sets what YAML cannot say."""
    config.mdx_configs["toc"]["slugify"] = make_anchor
    return config


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Adds the documents that lie elsewhere."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - in the site's own environment alone

    for source, page in ADOPTED.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Each page before it becomes HTML, how far up a search shows it, and by which further words."""
    if page.file.src_uri in SEARCHED_AS:
        page.meta["tags"] = SEARCHED_AS[page.file.src_uri]
    if page.file.src_uri.startswith(LAST_IN_SEARCH):
        page.meta["search"] = {"boost": 0.1}
    if page.file.src_uri.startswith(FIRST_IN_SEARCH):
        page.meta["search"] = {"boost": 3}
    return rewrite_links(markdown, page.file.src_uri)
