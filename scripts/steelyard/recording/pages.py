# SPDX-License-Identifier: Apache-2.0
"""Forms of recorded pages, with what stands in them (HTML, section 4.10.21 on form submission)."""

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin


class PageReader(HTMLParser):
    """Reads whatever servers call a page."""

    def read(self, page: str) -> None:
        """All of a page, or what stands before a mark that the parser does not know."""
        with suppress(AssertionError):
            self.feed(page)


def address_of(base: str, link: str) -> str:
    """Where a link of an answer leads to, without its fragment; empty: nowhere."""
    try:
        return urljoin(base, link).partition("#")[0]
    except ValueError:
        return ""


@dataclass
class PageForm:
    """A form of a page."""

    selector: str
    """CSS, by which it is found again."""
    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    """What stands in it as it is."""


class _Forms(PageReader):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[PageForm] = []
        self._within: PageForm | None = None
        self._select = ""
        self._option: str | None = None
        """Name of the select whose option is being read, which has no value but its text."""
        self._area: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        name = given.get("name", "")
        if tag == "form":
            self._within = PageForm(
                self._selector(given), given.get("action", ""), given.get("method", "get").upper()
            )
            self.forms.append(self._within)
            self._select, self._option, self._area = "", None, None
        if self._within is None:
            return
        if tag == "option":
            self._option = None
        if "disabled" in given:
            return
        fields = self._within.fields
        if tag == "input" and name:
            input_type = given.get("type", "text").lower()
            unchecked = input_type in ("checkbox", "radio") and "checked" not in given
            if input_type not in ("submit", "button", "image", "reset", "file") and not unchecked:
                fields[name] = given.get("value", "on" if input_type in ("checkbox", "radio") else "")
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and ("selected" in given or self._select not in fields):
            fields[self._select] = given.get("value", "")
            self._option = None if "value" in given else self._select
        elif tag == "textarea" and name:
            self._area = name
            fields[name] = ""

    def _selector(self, given: dict[str, str]) -> str:
        if given.get("id"):
            return f"form#{given['id']}" if given["id"].isidentifier() else f'form[id="{given["id"]}"]'
        for name in ("name", "action"):
            if given.get(name) and "?" not in given[name]:
                return f'form[{name}="{given[name]}"]'
        return "form"

    def handle_data(self, data: str) -> None:
        if self._area is not None and self._within is not None:
            self._within.fields[self._area] += data
        if self._option is not None and self._within is not None:
            text = self._within.fields[self._option] + data
            self._within.fields[self._option] = " ".join(text.split())

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._within = None
        elif tag == "select":
            self._select, self._option = "", None
        elif tag == "option":
            self._option = None
        elif tag == "textarea":
            self._area = None


def forms_of(page: str) -> list[PageForm]:
    """The forms of a page, in its order; of several with one selector each has its number in it, as jQuery counts."""
    parser = _Forms()
    parser.read(page)
    seen: Counter[str] = Counter()
    for form in parser.forms:
        plain = form.selector
        if seen[plain]:
            form.selector = f"{plain}:eq({seen[plain]})"
        seen[plain] += 1
    return parser.forms


class _Links(PageReader):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value for name, value in attrs if tag == "a" and name == "href" and value]


def links_of(page: str) -> list[str]:
    """Where the links of a page lead to, as they stand in it."""
    parser = _Links()
    parser.read(page)
    return parser.links
