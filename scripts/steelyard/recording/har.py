# SPDX-License-Identifier: Apache-2.0
"""Reads an HTTP Archive, as browsers save it from their network panel (HAR 1.2, J. Odvarko and others)."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from steelyard.errors import BadInput
from steelyard.regular import read_bytes

MAX_BYTES = 256 * 1024 * 1024
MAX_STATUS = 999
_NOT_MODIFIED = 304
BINARY = "(binary)"
"""What stands for the content of a file."""
_STATIC = {"stylesheet", "script", "image", "font", "media", "manifest", "texttrack"}
_STATIC_TYPES = (
    "image/",
    "font/",
    "audio/",
    "video/",
    "text/css",
    "application/javascript",
    "text/javascript",
)
_STATIC_ENDINGS = (
    *(".css", ".js", ".mjs", ".map", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".ico", ".webp", ".avif"),
    *(".woff", ".woff2", ".ttf", ".otf", ".mp4"),
)


@dataclass(frozen=True)
class HarEntry:
    """A request and its answer, as they were recorded."""

    method: str
    url: str
    headers: list[tuple[str, str]]
    body: str | None
    body_type: str
    fields: list[tuple[str, str]] | None
    """Of a url-encoded body."""
    files: list[tuple[str, str | None, str, str]]
    """Parts of a multipart body: name, name of the file, type, content."""
    status: int
    answer_headers: list[tuple[str, str]]
    answer: str
    answer_type: str
    resource: str
    began: float
    """Seconds since the epoch."""
    seconds: float

    @property
    def host(self) -> str:
        """Host and port, as in the address."""
        return urlsplit(self.url).netloc

    @property
    def target(self) -> str:
        """Path and query."""
        parts = urlsplit(self.url)
        return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def is_static(self) -> bool:
        """Whether it is a file that belongs to a page: a picture, a script, a style."""
        if self.method != "GET":
            return False
        if self.resource in _STATIC or self.answer_type.startswith(_STATIC_TYPES):
            return True
        return urlsplit(self.url).path.lower().endswith(_STATIC_ENDINGS)

    def header(self, name: str) -> str | None:
        """The first value of a header of the answer."""
        return next((value for key, value in self.answer_headers if key.lower() == name), None)


def read_har(path: Path) -> list[HarEntry]:
    """What was recorded, by the time at which each request began.

    Raises:
        BadInput: it cannot be read, or is no recording.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadInput(f"{path} is larger than {MAX_BYTES // 1024 // 1024} MiB: record less")
        document = json.loads(read_bytes(path).decode("utf-8-sig"))
    except OSError as error:
        raise BadInput(f"cannot read {path} ({error.strerror}): check the path") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"{path} is no recording: not valid JSON ({error}): save it as HAR in the browser"
        ) from error
    entries = document.get("log", {}).get("entries") if isinstance(document, dict) else None
    if not isinstance(entries, list) or not entries:
        raise BadInput(
            f"{path} is no recording: a HAR file has requests in log.entries: save one in the browser"
        )
    recorded = []
    for number, entry in enumerate(entries):
        try:
            recorded.append(_exchange(entry))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            why = (
                f"it has no {error}"
                if isinstance(error, KeyError)
                else "a part of it is not as browsers write it"
            )
            raise BadInput(
                f"{path}: log.entries[{number}] cannot be read ({why}): save the recording again, as HAR"
            ) from error
    return sorted(recorded, key=lambda each: each.began)


def _exchange(entry: Mapping[str, Any]) -> HarEntry:
    request, response = entry["request"], entry["response"]
    content = response.get("content") or {}
    posted = request.get("postData") or {}
    body_type = str(posted.get("mimeType") or "")
    params = posted.get("params") or []
    text = _text(posted["text"]) if posted.get("text") is not None else None
    fields, files = None, []
    if body_type.startswith("application/x-www-form-urlencoded"):
        pairs = [(_text(part["name"]), _text(part.get("value"))) for part in params]
        fields = parse_qsl(text, keep_blank_values=True) if text else pairs
    elif body_type.startswith("multipart/form-data"):
        files = [
            (
                _text(part["name"]),
                _file_name(part),
                _text(part.get("contentType")),
                _text(part.get("value")),
            )
            for part in params
        ]
    url = str(request["url"]).partition("#")[0]
    status = int(response.get("status") or 0)
    urlsplit(url)  # raises ValueError, here and not where a step is written
    if status > MAX_STATUS:
        raise ValueError(status)
    return HarEntry(
        method=str(request["method"]).upper(),
        url=url,
        headers=list(_pairs(request.get("headers") or [])),
        body=text,
        body_type=body_type,
        fields=fields,
        files=files,
        status=status,
        answer_headers=list(_pairs(response.get("headers") or [])),
        answer="" if status == _NOT_MODIFIED else _content(content),  # that of the browser's cache
        answer_type=str(content.get("mimeType") or "").partition(";")[0].strip().lower(),
        resource=str(entry.get("_resourceType") or ""),
        began=datetime.fromisoformat(str(entry["startedDateTime"])).timestamp(),
        seconds=max(float(entry.get("time") or 0.0), 0.0) / 1000,
    )


def _file_name(part: Mapping[str, Any]) -> str | None:
    """Of a part that is a file; None: it is a text. Some browsers write neither name nor content of a file."""
    name = part.get("fileName") or (part["name"] if part.get("value") == BINARY else None)
    return _text(name) if name else None


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _pairs(headers: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for header in headers:
        if not str(header["name"]).startswith(":"):  # of HTTP/2
            yield str(header["name"]), str(header["value"])


def _content(content: Mapping[str, Any]) -> str:
    text = str(content.get("text") or "")
    if content.get("encoding") != "base64":
        return text
    return base64.b64decode(text).decode("utf-8", "replace")
