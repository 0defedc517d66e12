# SPDX-License-Identifier: Apache-2.0
"""One step of a journey: a request, a page with its parts, a form, or a message of a stream."""

import base64
import mimetypes
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, ValidationInfo, model_validator

from steelyard.workload.answers import (
    Address,
    AnswerCheck,
    Expression,
    Extraction,
    Headers,
    MessageExtraction,
    RootPath,
    Selector,
)
from steelyard.workload.feeder import read_beside
from steelyard.yamlfile import AnswerLimit, Duration, Model, key_error

OperationName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")]
USUAL_WITHIN = 10.0
"""Seconds to wait for a message or an event of which nothing is said."""
_NOT_MODIFIED = 304
Method = Literal["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]


class Upload(Model):
    """A file of a multipart form; exactly one of content, file and base64."""

    exactly_one = ("content", "file", "base64")
    content: str | None = None
    """A text, in which `${name}` stands for a value."""
    file: str | None = None
    """A file beside the workload file, as it is."""
    base64: str | None = None
    """Bytes, written here."""
    filename: str = ""
    """Left out: that of `file`."""
    type: str = ""
    """Left out: by the ending of the name, text/plain for `content`."""

    @model_validator(mode="before")
    @classmethod
    def _read_file(cls, data: Any, info: ValidationInfo) -> Any:
        if not isinstance(data, Mapping):
            return data
        made = dict(data)
        if isinstance(path := data.get("file"), str):
            made.setdefault("filename", PurePosixPath(path).name)
            content = read_beside(path, info)
            if content is not None and "base64" not in data and "content" not in data:
                del made["file"]
                made["base64"] = base64.b64encode(content).decode()
        if isinstance(name := made.get("filename"), str):
            usual = "text/plain" if "content" in made else "application/octet-stream"
            made.setdefault("type", mimetypes.guess_type(name)[0] or usual)
        return made

    @model_validator(mode="after")
    def _check_file(self) -> Self:
        if not self.filename:
            raise ValueError("filename is missing: add it")
        try:
            base64.b64decode(self.base64 or "", validate=True)
        except ValueError as error:
            raise key_error(
                ("base64",), f"it cannot be decoded ({error}): write base64 in one line"
            ) from error
        return self


def _is_file(data: Any) -> str:
    return "file" if isinstance(data, (Mapping, Upload)) else "text"


_Field = Annotated[Annotated[str, Tag("text")] | Annotated[Upload, Tag("file")], Discriminator(_is_file)]


class Part(Model):
    """A further request of a page."""

    path: Address
    headers: Headers = Field(default_factory=dict)
    conditional: bool = False
    """Ask only for what changed since this user last got it; 304 counts as right."""


class Submit(Model):
    """A form of the page that the step before asks for, with all that stands in it, hidden fields too."""

    form: Selector
    """CSS selector."""
    fields: dict[str, str] = Field(default_factory=dict)
    """What the user enters, instead of what the page holds there; the button that is pressed, if it has a name."""


class Pause(Model):
    """Time before the user goes on; exactly one of think and cycle: its mean."""

    exactly_one = ("think", "cycle")
    think: Duration | None = None
    """From the end of this operation."""
    cycle: Duration | None = None
    """From the start of this operation to the start of the next."""
    distribution: Literal["constant", "exponential", "uniform", "log-normal"] = "constant"
    minimum: Duration | None = None
    """Shortest length of an exponential or uniform one, from which it is drawn; left out: 0. Its mean stays what it
    is."""
    maximum: Duration | None = None
    """Where an exponential or log-normal one is cut; left out: ten of its means above the shortest. Of a uniform one it
    is as far above the mean as `minimum` is below it."""
    deviation: Duration | None = None
    """Standard deviation of a log-normal one, which needs it."""

    @model_validator(mode="after")
    def _mean_between(self) -> Self:
        mean = self.think if self.think is not None else self.cycle
        if mean is None:
            return self
        minimum = self.minimum or 0.0
        if not minimum <= mean <= (mean if self.maximum is None else self.maximum):
            raise ValueError("its mean lies between minimum and maximum")
        if (self.distribution == "log-normal") != (self.deviation is not None):
            raise ValueError("deviation belongs to log-normal pauses, which need it")
        if self.distribution == "log-normal" and minimum:
            raise ValueError("minimum belongs to exponential and uniform pauses: leave it out")
        if self.distribution == "uniform" and self.maximum not in (None, 2 * mean - minimum):
            raise ValueError(
                f"maximum of a uniform pause is as far from the mean as minimum: {2 * mean - minimum:g} s"
            )
        return self


class SocketExchange(Model):
    """A message over a WebSocket and the answer to it: an operation of its own."""

    operation: OperationName | None = None
    """What it is measured as; left out: as the step."""
    send: str | None = None
    """A text; only the first may be without one: it waits for what the server says by itself."""
    expect: Expression
    """A regular expression; what is sent before a message that matches it counts for nothing."""
    within: AnswerLimit | None = None
    """How long to wait for that message; left out: 10 s. Ten minutes at most."""
    save: dict[str, MessageExtraction] = Field(default_factory=dict)
    """From that message."""
    pause: Pause | None = None
    """Before what comes next; left out: that of the step."""


class WebSocket(Model):
    """Exchanges over one WebSocket, which the first opens; exactly one of `expect` (a single one) and `exchanges`."""

    exactly_one = ("expect", "exchanges")
    path: RootPath
    headers: Headers = Field(default_factory=dict)
    """Of the request that opens it, which has the user's cookies as well."""
    protocol: str | None = None
    """A subprotocol that the server has to agree to, or several with commas (`Sec-WebSocket-Protocol`)."""
    exchanges: Annotated[list[SocketExchange], Field(min_length=1)] | None = None
    """One after the other; instead of the keys that follow."""
    send: str | None = None
    expect: Expression | None = None
    """A regular expression; what is sent before a message that matches it counts for nothing."""
    within: AnswerLimit | None = None
    """How long to wait for that message; left out: 10 s. Ten minutes at most."""
    save: dict[str, MessageExtraction] = Field(default_factory=dict)
    """From that message."""

    @model_validator(mode="after")
    def _check_exchanges(self) -> Self:
        if self.exchanges is None:
            return self
        if self.send is not None or self.within is not None or self.save:
            raise ValueError("give send, within and save in each of the exchanges")
        if any(each.send is None for each in self.exchanges[1:]):
            raise ValueError("only the first of the exchanges may wait without a send: add it to the others")
        return self

    def all_exchanges(self) -> list[SocketExchange]:
        """Its exchanges, however they are written."""
        if self.exchanges is not None:
            return self.exchanges
        assert self.expect is not None
        return [SocketExchange(send=self.send, expect=self.expect, within=self.within, save=self.save)]


class Events(Model):
    """Server-sent events: the stream is opened, an event awaited, the stream closed."""

    path: RootPath
    headers: Headers = Field(default_factory=dict)
    """Of the request, which has the user's cookies as well."""
    expect: Expression
    """A regular expression, found in the event as JSON with the keys event, data and id; those before it count for
    nothing."""
    within: AnswerLimit = USUAL_WITHIN
    """From the request to that event; ten minutes at most."""
    save: dict[str, MessageExtraction] = Field(default_factory=dict)
    """From that event."""


class Step(Model):
    """One operation: a request, a page with its parts, a form or a server-sent event; or a WebSocket's exchanges."""

    exactly_one = ("path", "submit", "websocket", "events")
    operation: OperationName
    method: Method | None = None
    """Left out: GET, and POST for `submit`."""
    path: Address | None = None
    headers: Headers = Field(default_factory=dict)
    """`Cookie` is sent with the user's own cookies, in place of those of the same names."""
    form: dict[str, str] | None = None
    body: str | None = None
    multipart: Annotated[dict[str, _Field], Field(min_length=1)] | None = None
    """With `submit`: what is sent with the fields of the form. Without it a form is sent as its `enctype` says."""
    check: AnswerCheck = Field(default_factory=AnswerCheck)
    save: dict[str, Extraction] = Field(default_factory=dict)
    parts: list[Part] = Field(default_factory=list)
    parts_in_turn: bool = False
    """Whether the parts are asked for one after the other; left out: side by side, as browsers do."""
    submit: Submit | None = None
    websocket: WebSocket | None = None
    events: Events | None = None
    pause: Pause | None = None
    optional: bool = False
    """Whether the visit goes on after it failed."""

    @model_validator(mode="after")
    def _one_body(self) -> Self:
        if sum(body is not None for body in (self.form, self.body, self.multipart)) > 1:
            raise ValueError("give one of form, body and multipart")
        if self.submit is not None and (self.form is not None or self.body is not None):
            raise ValueError(
                "submit sends a form of the page: give its fields there, and leave out form and body"
            )
        if self.submit is not None and self.method not in (None, "GET", "POST"):
            raise ValueError("a form is sent by GET or POST")
        request = self.headers or self.form or self.body or self.multipart or self.save or self.parts
        if not self.has_page() and (request or self.method or self.check != AnswerCheck()):
            stream = "websocket" if self.websocket is not None else "events"
            raise ValueError(f"{stream} stands alone: leave out what belongs to a request")
        return self

    @model_validator(mode="after")
    def _no_body_at_304(self) -> Self:
        if not self.check.allows(_NOT_MODIFIED):
            return self
        saves = [
            f"save.{name}"
            for name, extraction in self.save.items()
            if not extraction.optional and extraction.header is None and extraction.cookie is None
        ]
        if keys := self.check.keys_of_the_body() + saves:
            raise ValueError(
                f"an answer of status 304 has no body for {', '.join(keys)}: leave out 304, or what reads the body"
                + (" (a save may be optional)" if saves else "")
            )
        return self

    def has_page(self) -> bool:
        """Whether it asks for a page, in which a form may stand."""
        return self.path is not None or self.submit is not None

    def operations(self) -> list[str]:
        """What it is measured as: one name, or one for each exchange of its WebSocket."""
        if self.websocket is None:
            return [self.operation]
        return [each.operation or self.operation for each in self.websocket.all_exchanges()]

    def saves(self) -> Iterator[tuple[str, MessageExtraction]]:
        """What it keeps, of an answer or of messages."""
        for _, saves in self.stages():
            yield from saves.items()

    def texts(self) -> Iterator[str]:
        """All that may hold `${name}`."""
        for texts, _ in self.stages():
            yield from texts

    def stages(self) -> Iterator[tuple[list[str], Mapping[str, MessageExtraction]]]:
        """The texts that are sent at once and may hold `${name}`, with what is kept of the answer, in their order."""
        if self.websocket is not None:
            opening = [self.websocket.path, *self.websocket.headers.values(), self.websocket.protocol or ""]
            for each in self.websocket.all_exchanges():
                yield [*opening, each.send or ""], each.save
                opening = []
        elif self.events is not None:
            yield [self.events.path, *self.events.headers.values()], self.events.save
        else:
            yield list(self._page_texts()), self.save
            yield [text for part in self.parts for text in (part.path, *part.headers.values())], {}

    def _page_texts(self) -> Iterator[str]:
        yield from filter(None, (self.path, self.body))
        yield from (*self.headers.values(), *(self.form or {}).values())
        yield from self.submit.fields.values() if self.submit is not None else ()
        for contents in (self.check.contains, self.check.absent):
            yield from [contents] if isinstance(contents, str) else contents or []
        for field in (self.multipart or {}).values():
            yield from [field] if isinstance(field, str) else [field.content or "", field.filename]
        yield from (value for value in (self.check.json_ or {}).values() if isinstance(value, str))
