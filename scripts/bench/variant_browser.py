# SPDX-License-Identifier: Apache-2.0
"""Olio's users for benchmarks: the chain of operations of its published driver, pages alone, one request at a time."""

import http.client
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from urllib.parse import urlencode, urlsplit

USERS = 25
PERSONS, TAGS = 100 * USERS, 622
"""Rows of the data set for 25 users (docs/reference/olio.md)."""
_NEW = 9_000_000
"""Numbers of new persons begin here."""
NEXT: Mapping[str, Mapping[str, int]] = {
    "home-page": {"login": 11, "tag-search": 52, "event-detail": 36, "add-person": 1},
    "login": {"tag-search": 60, "event-detail": 20, "add-event": 20},
    "tag-search": {"home-page": 21, "login": 6, "tag-search": 41, "event-detail": 31, "add-person": 1},
    "event-detail": {"home-page": 72, "login": 21, "person-detail": 6, "add-person": 1},
    "person-detail": {"home-page": 52, "login": 6, "event-detail": 31, "person-detail": 11},
    "add-person": {"person-detail": 100},
    "add-event": {"event-detail": 100},
}
"""Per cent of what follows each operation (`OlioStep` of loadgen)."""
_ATTENDS = 0.1
_EVENT = re.compile(r'href="[^"]*/event/detail\?socialEventID=(\d+)"')
_OFFERS = re.compile(r'data-attending="false"|name="attend" ')
"""The page of an event offers to attend: ours, the original's."""
_BOUNDARY = "a-line-that-is-in-no-file"
_PLACE = {
    "street1": "12 High St",
    "street2": "",
    "city": "London",
    "state": "LN",
    "zip": "12345",
    "country": "USA",
}


def name_of(number: int) -> str:
    """The user name of a person's number and the word of a tag's (`Names` of apps/olio/population)."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    value = (number * 1_000_003 + 12_345) % 36**6
    name = chr(ord("a") + number % 26)
    name += "".join(digits[value // 36**place % 36] for place in range(5, -1, -1))
    rest = value
    for limit in (13, 30, 55, 79):
        if value % 100 >= limit:
            name += chr(ord("a") + rest % 26)
            rest //= 26
    return name


@dataclass
class _Visitor:
    """One of the users."""

    index: int
    step: str = ""
    name: str | None = None
    event: str | None = None
    cookies: dict[str, str] = field(default_factory=dict)


class OlioPages:
    """All users of one server; two servers that answer alike are asked for the same."""

    def __init__(self, host: str, port: int, files: Path, context: str = "/olio") -> None:
        """Ask a server.

        Args:
            host: its name.
            port: where it listens.
            files: the filestore of its data; its first event's picture and document are uploaded.
            context: the path of the application.
        """
        self.body_bytes = 0
        """Of all answers until now."""
        self._connection = http.client.HTTPConnection(host, port)
        self._context = context
        self._random = Random(1)
        self._visitors = [_Visitor(index) for index in range(USERS)]
        self._turn = 0
        self._added = 0
        self._picture = next(files.rglob("e1.jpg")).read_bytes()
        self._document = next(files.rglob("e1l.pdf")).read_bytes()

    def connect(self) -> None:
        """Ask by a new connection from now on: servers close one that was not used for 30 s."""
        self._connection.close()

    def perform(self, answers: list[int]) -> str:
        """The next operation of the next user; adds a number for each page, and gives the operation's name."""
        visitor = self._visitors[self._turn % USERS]
        self._turn += 1
        self._answers, self._visitor = answers, visitor
        following = NEXT.get(visitor.step)
        visitor.step = "home-page"
        if following is not None:
            (visitor.step,) = self._random.choices(list(following), list(following.values()))
        {
            "home-page": lambda: self._choose_event(self._get("/")),
            "login": self._log_in,
            "tag-search": self._search_tag,
            "event-detail": self._look_at_event,
            "person-detail": self._look_at_person,
            "add-person": self._add_person,
            "add-event": self._add_event,
        }[visitor.step]()
        return visitor.step

    def _log_in(self) -> None:
        self._log_out()
        number = self._random.randrange(100) * USERS + self._visitor.index + 1
        form = urlencode({"user_name": name_of(number), "password": number})
        self._ask("POST", "/person/login", form, "application/x-www-form-urlencoded")
        if "Username" in self._get("/event/list?from=login"):
            raise ValueError(f"{name_of(number)} cannot log in")
        self._visitor.name = name_of(number)

    def _log_out(self) -> None:
        if self._visitor.name is not None:
            self._ask("GET", "/logout")
            self._visitor.name = None
            self._visitor.cookies.clear()

    def _search_tag(self) -> None:
        tag = name_of(1 + self._random.randrange(TAGS))
        form = urlencode({"tag": tag, "tagsearchsubmit": "Search"})
        self._ask("POST", "/tag/display", form, "application/x-www-form-urlencoded")
        self._choose_event(self._get(f"/tag/display?tag={tag}"))

    def _look_at_event(self) -> None:
        page = self._get(f"/event/detail?socialEventID={self._visitor.event}")
        # Drawn whether or not it can be, so that servers whose pages differ are asked for the same.
        attends = self._random.random() < _ATTENDS
        if attends and self._visitor.name is not None and _OFFERS.search(page):
            self._get(f"/api/event/addAttendee?socialEventID={self._visitor.event}")

    def _look_at_person(self) -> None:
        name = name_of(1 + self._random.randrange(PERSONS))
        self._get(f"/person?actionType=display_person&user_name={name}")

    def _add_person(self) -> None:
        self._log_out()
        self._get("/site.jsp?page=addPerson.jsp")
        self._added += 1
        name = name_of(_NEW + self._added)
        fields = {"user_name": name, "password": "secret", "passwordx": "secret", "first_name": "Ada"}
        fields |= {"last_name": "Byron", "email": "ada@example.com", "telephone": "+1 234 567 8901"}
        fields |= {"summary": "writes programs " * 80, "timezone": "Europe/London", **_PLACE}
        self._upload(
            f"/api/person/fileuploadPerson?user_name={name}",
            fields,
            {"upload_person_image": self._picture},
        )

    def _add_event(self) -> None:
        self._get("/event/addEvent")
        tags = {self._popular_tag() for _ in range(self._random.randint(1, 7))}
        day = self._random.randint(1, 28)
        fields = {
            "title": "an added event",
            "summary": "a summary of some words",
            "description": "words " * 50,
        }
        fields |= {
            "submitter_user_name": "somebody",
            "telephone": "+1 234 567 8901",
            "timezone": "Europe/London",
        }
        fields |= {"year": "2027", "month": "3", "day": str(day), "hour": "20", "minute": "15"}
        fields |= {"tags": " ".join(sorted(tags)), "submit": "Create", **_PLACE}
        files = {"upload_event_image": self._picture, "upload_event_literature": self._document}
        location = urlsplit(self._upload("/api/event/addEvent", fields, files))
        self._get(f"{location.path.removeprefix(self._context)}?{location.query}")

    def _popular_tag(self) -> str:
        """By a negative exponential of their ranks, as loaded events have them."""
        rank = TAGS
        while rank >= TAGS:
            rank = int(self._random.expovariate(1 / (0.1 * TAGS)))
        return name_of(1 + rank)

    def _choose_event(self, page: str) -> None:
        # In the order of their numbers, and by one draw: servers that list them otherwise are asked for the same.
        events = sorted(set(_EVENT.findall(page)), key=int)
        drawn = self._random.random()
        if events:
            self._visitor.event = events[int(drawn * len(events))]

    def _upload(self, path: str, fields: Mapping[str, str], files: Mapping[str, bytes]) -> str:
        """Send a form with files; where it leads to."""
        parts: list[bytes] = []
        for name, text in fields.items():
            parts.append(
                f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'.encode()
            )
        for name, content in files.items():
            end = "pdf" if name.endswith("literature") else "jpg"
            head = (
                f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"; filename="x.{end}"\r\n\r\n'
            )
            parts.append(head.encode() + content + b"\r\n")
        body = b"".join(parts) + f"--{_BOUNDARY}--\r\n".encode()
        return self._ask("POST", path, body, f"multipart/form-data; boundary={_BOUNDARY}")[1]

    def _get(self, path: str) -> str:
        return self._ask("GET", path)[0]

    def _ask(
        self, method: str, path: str, body: str | bytes | None = None, kind: str = ""
    ) -> tuple[str, str]:
        """Text and Location of an answer.

        Raises:
            ValueError: its status is none of 200 and 302.
        """
        visitor = self._visitor
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())}
        if kind:
            headers["Content-Type"] = kind
        self._connection.request(method, self._context + path, body, headers)
        response = self._connection.getresponse()
        content = response.read()
        self.body_bytes += len(content)
        text = content.decode()
        if response.status not in (http.client.OK, http.client.FOUND):
            raise ValueError(f"{method} {path} answered {response.status}: {text[:2000]}")
        for cookie in response.headers.get_all("Set-Cookie") or []:
            name, _, value = cookie.partition(";")[0].partition("=")
            visitor.cookies[name] = value
        self._answers.append(zlib.crc32(text.encode()))
        return text, response.headers.get("Location", "")
