# SPDX-License-Identifier: Apache-2.0
"""Recordings as browsers write them, for tests of what is made of them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from steelyard.recording.har import read_har
from steelyard.recording.writer import JourneyWriter
from steelyard.workload.loader import load_workload

SHOP = "http://shop:8080"


def entry(
    at: float,
    url: str,
    body: str = "",
    *,
    method: str = "GET",
    status: int = 200,
    kind: str = "text/html; charset=utf-8",
    sent: dict[str, Any] | None = None,
    headers: Sequence[tuple[str, str]] = (),
    asked: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:
    """A request as browsers write it."""
    request: dict[str, Any] = {"method": method, "url": url, "headers": named(asked)}
    if sent is not None:
        request["postData"] = sent
    return {
        "startedDateTime": f"2026-11-25T10:00:{at:06.3f}Z",
        "time": 10,
        "request": request,
        "response": {
            "status": status,
            "headers": named(headers),
            "content": {"mimeType": kind, "text": body},
        },
    }


def named(pairs: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def form(text: str) -> dict[str, str]:
    return {"mimeType": "application/x-www-form-urlencoded", "text": text}


def as_json(text: str) -> dict[str, str]:
    return {"mimeType": "application/json", "text": text}


def writer_of(folder: Path, *entries: dict[str, Any], host: str | None = None) -> JourneyWriter:
    """What writes the journey of a recording."""
    path = folder / "recording.har"
    path.write_text(json.dumps({"log": {"entries": entries}}), encoding="utf-8")
    return JourneyWriter(read_har(path), host)


def steps_in(folder: Path, text: str) -> list[dict[str, Any]]:
    """The steps of a workload file, which loads."""
    to = folder / "recorded.yaml"
    to.write_text(text, encoding="utf-8")
    load_workload.cache_clear()
    load_workload(str(to))
    topology = yaml.safe_load(text)["topologies"]["single"]
    steps: list[dict[str, Any]] = topology["journey"]["visits"]["recorded"]["steps"]
    return steps


def made(folder: Path, *entries: dict[str, Any], host: str | None = None) -> tuple[str, list[dict[str, Any]]]:
    """The text that is made of a recording, and its steps."""
    text = writer_of(folder, *entries, host=host).text()
    return text, steps_in(folder, text)
