# SPDX-License-Identifier: Apache-2.0
"""A workload file with the journey of a recording: static files folded into their pages, tokens saved and sent back."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urljoin, urlsplit

import yaml

from steelyard.errors import BadInput
from steelyard.recording.har import HarEntry
from steelyard.recording.origins import SAYS_SO, find_origin, is_token, variable
from steelyard.recording.pages import PageForm, forms_of, links_of

_SHORTEST_PAUSE = 0.1
_OWN_HEADERS = {"content-type", "authorization", "accept", "x-requested-with"}
_STATUSES = range(200, 400)
_NO_FILES = "guessed: recordings do not hold files: put one beside this file, or change content"
HEAD = """steelyard: 1
name: recorded
version: "1"
title: What was recorded
topologies:
  single:
    about: one server
    components:
      server:
        role: server
        # how your server starts: docs/workloads.md, Components
        process: {{command: [your-server, "${{port}}"]}}
    # recorded at {host}; try it: ./steelyard journey try FILE --url URL
    journey:
      visits:
        recorded:
          steps:
"""


@dataclass
class _StepText:
    """A step as it will be written, and what has to be said about it."""

    # As YAML has it, of many shapes.
    keys: dict[str, Any]
    comments: list[str] = field(default_factory=list)


class JourneyWriter:
    """Turns recorded requests into steps."""

    def __init__(self, recorded: Sequence[HarEntry], host: str | None) -> None:
        """
        Raises:
            BadInput: nothing was recorded of the host, or of any.
        """
        hosts = Counter(each.host for each in recorded)
        pages = [each for each in recorded if "html" in each.answer_type and not each.is_static()]
        self.host = host or (pages or recorded)[0].host
        if self.host not in hosts:
            raise BadInput(f"nothing was recorded of {self.host}: there are {', '.join(sorted(hosts))}")
        self.others = {name: count for name, count in sorted(hosts.items()) if name != self.host}
        own = [each for each in recorded if each.host == self.host and each.resource != "websocket"]
        self.recorded: list[HarEntry] = []
        self.parts: list[list[HarEntry]] = []
        self.dropped = sum(each.host == self.host for each in recorded) - len(own)
        for each in own:
            if each.is_static() and self.recorded:
                self.parts[self._page()].append(each)
            elif each.is_static() or (each.status not in _STATUSES and not each.status >= 400):
                self.dropped += 1
            else:
                self.recorded.append(each)
                self.parts.append([])
        if not self.recorded:
            raise BadInput(f"of {self.host} only static files were recorded: record a page as well")
        self.steps: list[_StepText] = []
        self.typed: set[str] = set()
        self.variables: dict[str, str] = {}
        """Value -> variable that has it."""

    def _page(self) -> int:
        """The newest page, to which static files belong."""
        pages = (at for at in reversed(range(len(self.recorded))) if "html" in self.recorded[at].answer_type)
        return next(pages, len(self.recorded) - 1)

    def text(self) -> str:
        """The workload file."""
        for number in range(len(self.recorded)):
            self.steps.append(self._step(number))
        lines = [HEAD.format(host=self.host)]
        if self.others:
            left_out = ", ".join(f"{name} ({count})" for name, count in self.others.items())
            lines.append(f"            # left out, of other hosts: {left_out}\n")
        if self.dropped:
            lines.append(f"            # left out, as nothing can be sent for them: {self.dropped}\n")
        for step in self.steps:
            lines += [f"            # {comment}\n" for comment in step.comments]
            written = yaml.safe_dump([step.keys], sort_keys=False, allow_unicode=True, width=110)
            lines += [f"            {line}\n" for line in written.splitlines()]
        return "".join(lines)

    def _step(self, number: int) -> _StepText:
        request = self.recorded[number]
        step = _StepText({"operation": operation_name(request)})
        location = self._is_followed(number)
        form = self._form(number)
        if form is not None:
            self._submit(step, request, form)
        else:
            if request.method != "GET":
                step.keys["method"] = request.method
            step.keys["path"] = "${location}" if location else self._link(number) or self._path(step, request)
            self._body(step, request)
        self._headers(step, request)
        if request.status != 200:
            step.keys["check"] = {"status": request.status}
        if request.status >= 400:
            step.comments.append(f"guessed: the recording has the error {request.status} here, is it meant?")
        self._parts(step, number)
        if number + 1 < len(self.recorded):
            gap = self.recorded[number + 1].began - request.began - request.seconds
            if gap >= _SHORTEST_PAUSE:
                step.keys["pause"] = {"think": f"{round(gap, 1):g}s"}
        return step

    def _is_followed(self, number: int) -> bool:
        """Whether it asks for where the answer before led to; that one then saves the address."""
        if number == 0 or self.recorded[number].method != "GET":
            return False
        before = self.recorded[number - 1]
        location = before.header("location")
        if location is None or urljoin(before.url, location).partition("#")[0] != self.recorded[number].url:
            return False
        self._saves(number - 1)["location"] = {"header": "Location"}
        return True

    def _link(self, number: int) -> str | None:
        """A link of the page before that holds an id, as the step that follows it writes it."""
        request = self.recorded[number]
        before = self.recorded[number - 1]
        if number == 0 or request.method != "GET" or "html" not in before.answer_type:
            return None
        links = links_of(before.answer)
        link = next(
            (each for each in links if urljoin(before.url, each).partition("#")[0] == request.url), ""
        )
        for label, value in parse_qsl(urlsplit(link).query):
            start, separator, _ = link.partition(f"{label}={value}")
            if separator and SAYS_SO.search(label) and re.search(r"\d", value):
                start = f"{start}{label}="
                name = self._name(f"{variable(label)}_link", link)
                self._saves(number - 1)[name] = {"css": f'a[href^="{start}"]', "attribute": "href"}
                if sum(each.startswith(start) for each in links) > 1:
                    self.steps[number - 1].comments.append(
                        f"guessed: {name}: one of several links: which one?"
                    )
                return f"${{{name}}}"
        return None

    def _name(self, wanted: str, value: str) -> str:
        """A name that no other value has, for this one."""
        names = (wanted, *(f"{wanted}_{number}" for number in range(2, len(self.variables) + 3)))
        name = next(each for each in names if each not in {*self.variables.values(), "location"})
        self.variables[value] = name
        return name

    def _saves(self, number: int) -> dict[str, Any]:
        saves: dict[str, Any] = self.steps[number].keys.setdefault("save", {})
        return saves

    def _form(self, number: int) -> PageForm | None:
        """The form of the page before that was sent, if it was one."""
        request = self.recorded[number]
        sent = self._fields_of(request)
        if number == 0 or not sent or "html" not in self.recorded[number - 1].answer_type:
            return None
        before = self.recorded[number - 1]
        for form in forms_of(before.answer):
            address = urljoin(before.url, form.action) if form.action else before.url
            same = address.partition("#")[0] == request.url
            if request.method == "GET":
                same = address.partition("?")[0] == request.url.partition("?")[0]
            if same and form.method == request.method and form.fields.keys() <= sent.keys():
                return form
        return None

    @staticmethod
    def _fields_of(request: HarEntry) -> dict[str, str]:
        if request.files:
            return {name: value for name, file, _, value in request.files if not file}
        if request.method == "GET":
            return dict(parse_qsl(urlsplit(request.url).query, keep_blank_values=True))
        return dict(request.fields or [])

    def _submit(self, step: _StepText, request: HarEntry, form: PageForm) -> None:
        if request.method == "GET":
            step.keys["method"] = "GET"
        sent = self._fields_of(request)
        entered = {name: self._plain(value) for name, value in sent.items() if form.fields.get(name) != value}
        step.keys["submit"] = {"form": form.selector, **({"fields": entered} if entered else {})}
        self.typed |= {value for name, value in sent.items() if form.fields.get(name) != value}
        self._note_secrets(step, entered)
        files = {name: _upload(file, media_type) for name, file, media_type, _ in request.files if file}
        if files:
            step.keys["multipart"] = files
            step.comments.append(_NO_FILES)

    @staticmethod
    def _note_secrets(step: _StepText, fields: Mapping[str, str]) -> None:
        secrets = [name for name in fields if "pass" in name.lower()]
        if secrets:
            step.comments.append(
                f"guessed: {', '.join(secrets)} was typed: a feeder can give each user its own (docs/workloads.md)"
            )

    def _value(self, step: _StepText, value: str, label: str) -> str:
        """A value as a step writes it: as it was, or `${name}` where an answer gave it."""
        if value in self.variables:
            return f"${{{self.variables[value]}}}"
        if value in self.typed:
            return self._plain(value)
        origin = find_origin(value, label, self.recorded[: len(self.steps)])
        if origin is None:
            self.typed.add(value)
            if is_token(value) and SAYS_SO.search(label):
                step.comments.append(
                    f"guessed: no answer has {label}, which may be a token: it is sent as recorded"
                )
            return self._plain(value)
        name = self._name(origin.name, value)
        self._saves(origin.step)[name] = origin.save
        if origin.guess is not None:
            self.steps[origin.step].comments.append(f"guessed: {name}: {origin.guess}")
        return f"${{{name}}}"

    def _plain(self, value: str) -> str:
        if "${" in value:
            raise BadInput(f"the recording sends {value[:40]!r}, which a journey would read as a name")
        return value

    def _path(self, step: _StepText, request: HarEntry) -> str:
        parts = urlsplit(request.url)
        segments = []
        before = ""
        for segment in (parts.path or "/").split("/")[1:]:
            shown = self._value(step, unquote(segment), before) if any(map(str.isdigit, segment)) else segment
            segments.append(shown if shown.startswith("${") else segment)
            before = f"{segment} id"
        path = "/" + "/".join(segments)
        if not parts.query:
            return path
        pairs = []
        for name, value in parse_qsl(parts.query, keep_blank_values=True):
            shown = self._value(step, value, name)
            pairs.append(
                f"{quote(name, safe='')}={shown if shown.startswith('${') else quote(value, safe='')}"
            )
        return f"{path}?{'&'.join(pairs)}"

    def _body(self, step: _StepText, request: HarEntry) -> None:
        if request.files:
            step.keys["multipart"] = {
                name: _upload(file, media_type) if file else self._value(step, value, name)
                for name, file, media_type, value in request.files
            }
            if any(file for _, file, _, _ in request.files):
                step.comments.append(_NO_FILES)
        elif request.fields is not None:
            step.keys["form"] = {name: self._value(step, value, name) for name, value in request.fields}
            self._note_secrets(step, step.keys["form"])
        elif request.body:
            step.keys["body"] = self._text_body(step, request)

    def _text_body(self, step: _StepText, request: HarEntry) -> str:
        try:
            document = json.loads(request.body or "") if "json" in request.body_type else None
        except (ValueError, RecursionError):
            document = None
        if document is None:
            return self._plain(request.body or "")
        numbers: dict[str, str] = {}

        def place(value: Any, label: str) -> Any:
            if isinstance(value, dict):
                return {key: place(inner, key) for key, inner in value.items()}
            if isinstance(value, list):
                return [place(inner, label) for inner in value]
            if isinstance(value, str):
                return self._value(step, value, label)
            if isinstance(value, int) and not isinstance(value, bool):
                shown = self._value(step, str(value), label)
                if shown.startswith("${"):
                    numbers[f'"{shown}"'] = shown
                    return shown
            return value

        written = json.dumps(place(document, ""), ensure_ascii=False)
        for quoted, bare in numbers.items():
            written = written.replace(quoted, bare)
        return written

    def _headers(self, step: _StepText, request: HarEntry) -> None:
        kept = {}
        for name, value in request.headers:
            low = name.lower()
            if low == "content-type" and (request.fields is not None or request.files):
                continue
            if low == "accept" and "json" not in value:
                continue
            if low in _OWN_HEADERS or low.startswith("x-") or "csrf" in low or "xsrf" in low:
                scheme, space, token = value.partition(" ")
                if low == "authorization" and space:
                    kept[name] = f"{scheme} {self._value(step, token, 'token')}"
                else:
                    kept[name] = self._value(step, value, name)
        if kept:
            step.keys["headers"] = kept

    def _parts(self, step: _StepText, number: int) -> None:
        parts: dict[str, dict[str, Any]] = {}
        for each in self.parts[number]:
            if each.status not in (200, 304):
                step.comments.append(f"left out, with status {each.status}: {each.target}")
                continue
            again = each.status == 304 or each.header("etag") or each.header("last-modified")
            parts.setdefault(each.target, {"path": each.target, **({"conditional": True} if again else {})})
        if parts:
            step.keys["parts"] = list(parts.values())


def _upload(file: str | None, media_type: str) -> dict[str, str]:
    return {"content": "content", "filename": file or "file", **({"type": media_type} if media_type else {})}


def operation_name(request: HarEntry) -> str:
    """A name for what a request does: the method, and the last words of its path that are no ids."""
    words = [
        re.sub(
            r"[^a-z0-9]+", "-", unquote(segment).lower().rpartition(".")[0] or unquote(segment).lower()
        ).strip("-")
        for segment in urlsplit(request.url).path.split("/")
        if segment and not re.search(r"\d", segment)
    ]
    fields = [*parse_qsl(urlsplit(request.url).query), *(request.fields or [])]
    # One path for all, as in front controllers: what is done stands in a field.
    action = next((value for name, value in fields if name == "action" and value.isalpha()), "")
    name = "-".join([*[word for word in words if word][-2:], *([action.lower()] if action else [])]) or "home"
    return (name if request.method == "GET" else f"{request.method.lower()}-{name}")[:60].strip("-")
