# SPDX-License-Identifier: Apache-2.0
"""A workload file with the journey of a recording: static files folded into their pages, tokens saved and sent back."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, get_args
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from steelyard.errors import BadInput, one_line
from steelyard.recording.har import BINARY, HarEntry
from steelyard.recording.origins import SAYS_SO, Origin, find_origin, is_token, variable
from steelyard.recording.pages import PageForm, address_of, forms_of, links_of
from steelyard.recording.steps import LONGEST_COMMENT, StepText, comment_line
from steelyard.recording.texts import encoded_pairs, is_odd, json_body, plain, quote_address
from steelyard.units import YEAR
from steelyard.workload.step import Method
from steelyard.yamlfile import MAX_BYTES

_SHORTEST_PAUSE = 0.1
_CONDITIONS = {"if-match", "if-none-match", "if-modified-since", "if-unmodified-since"}
_OWN_HEADERS = {"content-type", "authorization", "accept", *_CONDITIONS}
"""Of the application and not of the browser; further ones by their names."""
_OWN_NAMES = re.compile(r"x-|.*(?:csrf|xsrf|api-?key|token)", re.IGNORECASE)
_STATUSES = range(200, 400)
_NO_FILES = "guessed: recordings do not hold files: put one beside this file, or change content"
_SANITIZED = (
    "no cookie and no Authorization was recorded: if there was a log-in, export the HAR with sensitive data"
)
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


class JourneyWriter:
    """Turns recorded requests into steps."""

    def __init__(self, recorded: Sequence[HarEntry], host: str | None) -> None:
        """
        Raises:
            BadInput: nothing was recorded of the host, or of any.
        """
        recorded = [each for each in recorded if each.host]
        if not recorded:
            raise BadInput("what was recorded asked no server: record a page of yours")
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
        self.has_secrets = any(map(_has_secrets, own))
        self.methods = Counter(each.method for each in own if each.method not in get_args(Method))
        for each in own:
            if each.method in self.methods:
                continue
            if each.is_static() and self.recorded:
                self.parts[self._page()].append(each)
            elif each.is_static() or (each.status not in _STATUSES and not each.status >= 400):
                self.dropped += 1
            else:
                self.recorded.append(each)
                self.parts.append([])
        if not self.recorded:
            raise BadInput(
                f"of {self.host} only static files were recorded, or what a journey cannot send: record a page as well"
            )
        self.steps: list[StepText] = []
        self.typed: set[tuple[str, str]] = set()
        self.variables: dict[tuple[str, str], str] = {}
        """Value by its `_key` -> variable that has it."""
        self.names = {"location"}

    def _page(self) -> int:
        """The newest page, to which static files belong."""
        pages = (at for at in reversed(range(len(self.recorded))) if "html" in self.recorded[at].answer_type)
        return next(pages, len(self.recorded) - 1)

    def text(self) -> str:
        """The workload file.

        Raises:
            BadInput: a value cannot be written, or the file would be larger than one may be.
        """
        for number in range(len(self.recorded)):
            self.steps.append(self._step(number))
        lines = [HEAD.format(host=one_line(self.host, LONGEST_COMMENT))]
        for why, counts in (
            ("of other hosts", self.others),
            ("by methods that journeys do not have", self.methods),
        ):
            if counts:
                left_out = ", ".join(f"{name} ({count})" for name, count in counts.items())
                lines.append(comment_line(f"left out, {why}: {left_out}"))
        if self.dropped:
            lines.append(comment_line(f"left out, as nothing can be sent for them: {self.dropped}"))
        if not self.has_secrets:
            lines.append(comment_line(_SANITIZED))
        for step in self.steps:
            lines += step.lines()
        text = "".join(lines)
        if len(text.encode()) > MAX_BYTES:
            raise BadInput(
                f"the journey is larger than the {MAX_BYTES // 1024} KiB of a workload file: record less"
            )
        return text

    def _step(self, number: int) -> StepText:
        request = self.recorded[number]
        step = StepText({"operation": operation_name(request)})
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
                step.keys["pause"] = {"think": f"{round(min(gap, YEAR), 1):.10g}s"}
        return step

    def _is_followed(self, number: int) -> bool:
        """Whether it asks for where the answer before led to; that one then saves the address."""
        if number == 0 or self.recorded[number].method != "GET":
            return False
        before = self.recorded[number - 1]
        location = before.header("location")
        if location is None or address_of(before.url, location) != self.recorded[number].url:
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
        link = next((each for each in links if address_of(before.url, each) == request.url), "")
        for label, value in parse_qsl(urlsplit(link).query):
            start, separator, _ = link.partition(f"{label}={value}")
            if separator and SAYS_SO.search(label) and re.search(r"\d", value):
                start = f"{start}{label}="
                name = self._name(f"{variable(label)}_link")
                self._saves(number - 1)[name] = {"css": f'a[href^="{start}"]', "attribute": "href"}
                if sum(each.startswith(start) for each in links) > 1:
                    self.steps[number - 1].comments.append(
                        f"guessed: {name}: one of several links: which one?"
                    )
                return f"${{{name}}}"
        return None

    def _name(self, wanted: str) -> str:
        """A name that no other value has."""
        names = (wanted, *(f"{wanted}_{number}" for number in range(2, len(self.names) + 2)))
        name = next(each for each in names if each not in self.names)
        self.names.add(name)
        return name

    def _saves(self, number: int) -> dict[str, Any]:
        saves: dict[str, Any] = self.steps[number].keys.setdefault("save", {})
        return saves

    def _form(self, number: int) -> PageForm | None:
        """The form of the page before that was sent, if it was one."""
        request = self.recorded[number]
        pairs = self._pairs_of(request)
        sent = dict(pairs)
        if number == 0 or not sent or "html" not in self.recorded[number - 1].answer_type:
            return None
        if request.method == "GET" and len(sent) < len(pairs):
            return None  # its query holds them all
        before = self.recorded[number - 1]
        for form in forms_of(before.answer):
            address = address_of(before.url, form.action) if form.action else before.url
            same = address == request.url
            if request.method == "GET":
                same = address.partition("?")[0] == request.url.partition("?")[0]
            if same and form.method == request.method and form.fields.keys() <= sent.keys():
                return form
        return None

    @staticmethod
    def _pairs_of(request: HarEntry) -> list[tuple[str, str]]:
        if request.files:
            return [(name, value) for name, file, _, value in request.files if not file]
        if request.method == "GET":
            return parse_qsl(urlsplit(request.url).query, keep_blank_values=True)
        return request.fields or []

    def _submit(self, step: StepText, request: HarEntry, form: PageForm) -> None:
        if request.method == "GET":
            step.keys["method"] = "GET"
        pairs = self._pairs_of(request)
        entered = {
            name: plain(value) for name, value in dict(pairs).items() if form.fields.get(name) != value
        }
        step.keys["submit"] = {"form": form.selector, **({"fields": entered} if entered else {})}
        self.typed |= {_key(value, name) for name, value in entered.items()}
        step.note_secrets(entered)
        files = {name: _upload(file, media_type) for name, file, media_type, _ in request.files if file}
        step.note_repeats((name for name, *_ in request.files or pairs), {*entered, *files})
        if files:
            step.keys["multipart"] = files
        _note_files(step, request)

    def _value(self, step: StepText, value: str, label: str) -> str:
        """A value as a step writes it: as it was, or `${name}` where an answer gave it."""
        return self._reference(step, value, label) or plain(value)

    def _reference(self, step: StepText, value: str, label: str) -> str | None:
        key = _key(value, label)
        if key in self.typed:
            return None
        if key not in self.variables:
            origin = find_origin(value, label, self.recorded[: len(self.steps)])
            if origin is None:
                self.typed.add(key)
                if is_token(value) and SAYS_SO.search(label):
                    step.comments.append(
                        f"guessed: no answer has {label}, which may be a token: it is sent as recorded"
                    )
                return None
            self.variables[key] = self._variable_for(origin)
            if not is_token(value) and not SAYS_SO.search(label):
                step.comments.append(
                    f"guessed: {label or 'it'} is taken for {self.variables[key]}, as both were {value}"
                )
        return f"${{{self.variables[key]}}}"

    def _variable_for(self, origin: Origin) -> str:
        """The variable of a place in an answer."""
        saves = self._saves(origin.step)
        # Each redirect gives `location` another value.
        for name, save in saves.items():
            if save == origin.save and name != "location":
                return name
        name = self._name(origin.name)
        saves[name] = origin.save
        if origin.guess is not None:
            self.steps[origin.step].comments.append(f"guessed: {name}: {origin.guess}")
        return name

    def _path(self, step: StepText, request: HarEntry) -> str:
        parts = urlsplit(request.url)
        segments = []
        before = ""
        for segment in (parts.path or "/").split("/")[1:]:
            varies = any(map(str.isdigit, segment))
            known = self._reference(step, unquote(segment), before) if varies else None
            segments.append(known or quote_address(segment))
            before = f"{segment} id"
        path = "/" + "/".join(segments)
        return f"{path}?{encoded_pairs(parts.query, partial(self._reference, step))}" if parts.query else path

    def _body(self, step: StepText, request: HarEntry) -> None:
        if request.files:
            names = [name for name, *_ in request.files]
            step.note_repeats(names, names)
            step.keys["multipart"] = {
                name: _upload(file, media_type) if file else self._value(step, value, name)
                for name, file, media_type, value in request.files
            }
            _note_files(step, request)
        elif request.fields is not None:
            form = dict(request.fields)
            step.note_secrets(form)
            if len(form) == len(request.fields) and not any(map(is_odd, (*form, *form.values()))):
                step.keys["form"] = {name: self._value(step, value, name) for name, value in form.items()}
            else:  # what no mapping of texts holds
                encoded = request.body or urlencode(request.fields)
                step.keys["body"] = encoded_pairs(encoded, partial(self._reference, step))
        elif request.body and "json" in request.body_type:
            step.keys["body"] = json_body(request.body, partial(self._reference, step))
        elif request.body:
            step.keys["body"] = plain(request.body)

    def _headers(self, step: StepText, request: HarEntry) -> None:
        kept: dict[str, str] = {}
        if request.fields is not None and "body" in step.keys:
            kept["Content-Type"] = "application/x-www-form-urlencoded"
        for name, value in request.headers:
            low = name.lower()
            if low == "content-type" and (request.fields is not None or request.files):
                continue
            if low == "accept" and "json" not in value:
                continue
            if low in _OWN_HEADERS or _OWN_NAMES.match(name):
                scheme, space, token = value.partition(" ")
                if low == "authorization" and space:
                    shown = f"{plain(scheme)} {self._value(step, token, 'token')}"
                elif low in _CONDITIONS:
                    shown = self._condition(step, value, name)
                else:
                    shown = self._value(step, value, name)
                kept[name] = f"{kept[name]}, {shown}" if name in kept else shown
        if kept:
            step.keys["headers"] = kept

    def _condition(self, step: StepText, value: str, header: str) -> str:
        """What a request was held against: of an answer before it, or as it was."""
        known = self._reference(step, value, "etag")
        if known is None:
            step.comments.append(f"guessed: no answer has what {header} holds: it is sent as recorded")
        return known or plain(value)

    def _parts(self, step: StepText, number: int) -> None:
        parts: dict[str, dict[str, Any]] = {}
        for each in self.parts[number]:
            if each.status not in (200, 304):
                step.comments.append(f"left out, with status {each.status}: {each.target}")
                continue
            again = each.status == 304 or each.header("etag") or each.header("last-modified")
            path = quote_address(each.target)
            parts.setdefault(path, {"path": path, **({"conditional": True} if again else {})})
        if parts:
            step.keys["parts"] = list(parts.values())


def _has_secrets(recorded: HarEntry) -> bool:
    """Whether a request or its answer has what browsers leave out of a sanitized recording."""
    names = {name.lower() for name, _ in (*recorded.headers, *recorded.answer_headers)}
    return not names.isdisjoint({"cookie", "set-cookie", "authorization"})


def _key(value: str, label: str) -> tuple[str, str]:
    """What a value is known by: a short one may stand for something else in another field."""
    return "" if is_token(value) else label, value


def _note_files(step: StepText, request: HarEntry) -> None:
    """Say what a recording does not have of files that were sent."""
    if any(file for _, file, _, _ in request.files):
        step.comments.append(_NO_FILES)
    nameless = [name for name, file, _, value in request.files if value == BINARY and file == name]
    if nameless:
        step.comments.append(
            f"guessed: {', '.join(nameless)} is {BINARY} in the recording: give filename and type of a file"
        )


def _upload(file: str, media_type: str) -> dict[str, str]:
    return {"content": "content", "filename": plain(file), **({"type": media_type} if media_type else {})}


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
    action = next(
        (value for name, value in fields if name == "action" and value.isascii() and value.isalpha()), ""
    )
    name = "-".join([*[word for word in words if word][-2:], *([action.lower()] if action else [])]) or "home"
    return (name if request.method == "GET" else f"{request.method.lower()}-{name}")[:60].strip("-")
