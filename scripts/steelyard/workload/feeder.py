# SPDX-License-Identifier: Apache-2.0
"""Rows of values that the visits of a journey take, from a CSV or JSON file beside the workload file."""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationInfo, model_validator

from steelyard.regular import read_bytes
from steelyard.yamlfile import Lines, Model

MAX_FILE = 1024 * 1024
"""Of a file that a journey names: all of it goes to every injector and into the record of the session."""


def read_beside(path: str, info: ValidationInfo) -> bytes | None:
    """The content of a file that a workload file names; None where no file is read (a recorded journey).

    Raises:
        ValueError: it cannot be read, or is too large.
    """
    if not isinstance(info.context, Lines):
        return None
    folder = Path(info.context.file).resolve().parent
    file = (folder / path).resolve()
    if not file.is_relative_to(folder):
        raise ValueError(f"{path} lies outside of the workload file's folder: put it there")
    try:
        if file.stat().st_size > MAX_FILE:
            raise ValueError(f"{path} has more than {MAX_FILE // 1024} KiB, which injectors are handed whole")
        return read_bytes(file)
    except OSError as error:
        raise ValueError(
            f"{path} cannot be read ({error.strerror}): paths in a workload file start from its own folder"
        ) from error


class Feeder(Model):
    """Rows of values: `${feeder.column}` is a value of the row that a visit has taken; exactly one of the three."""

    exactly_one = ("csv", "json_", "rows")
    csv: str | None = None
    """A file whose first line names the columns (RFC 4180, UTF-8)."""
    json_: str | None = Field(default=None, alias="json")
    """A file with a list of objects, all with the same keys; what is no text stands for its JSON."""
    columns: Annotated[list[str], Field(min_length=1)] | None = None
    """Of `rows`."""
    rows: Annotated[list[list[str]], Field(min_length=1)] | None = None
    """Written here, in place of a file."""
    order: Literal["rows", "circular", "random", "user"] = "circular"
    """Which row a visit takes: the next one until there is none, the next one and the first after the last, any, or
    always the one of the user, which no other has. An open load begins with 32 users for each injector."""

    @model_validator(mode="before")
    @classmethod
    def _read_file(cls, data: Any, info: ValidationInfo) -> Any:
        if not isinstance(data, Mapping):
            return data
        for key, parse in (("csv", _csv_table), ("json", _json_table)):
            path = data.get(key)
            if isinstance(path, str) and "rows" not in data:
                content = read_beside(path, info)
                if content is not None:
                    columns, rows = parse(path, _text(path, content))
                    others = {name: value for name, value in data.items() if name != key}
                    return {**others, "columns": columns, "rows": rows}
        return data

    @model_validator(mode="after")
    def _check_rows(self) -> Self:
        if (self.columns is None) != (self.rows is None):
            raise ValueError("columns belong to rows: give both")
        for number, row in enumerate(self.rows or [], 1):
            if len(row) != len(self.columns or []):
                raise ValueError(f"row {number} has {len(row)} values for {len(self.columns or [])} columns")
        return self


def _text(path: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no text (UTF-8)") from error


def _csv_table(path: str, text: str) -> tuple[list[str], list[list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        columns = next(reader, [])
        rows = []
        for row in reader:
            if row and len(row) != len(columns):
                raise ValueError(
                    f"{path}:{reader.line_num}: {len(row)} values for the {len(columns)} columns of the first line"
                )
            rows += [row] if row else []
    except csv.Error as error:
        raise ValueError(f"{path}:{reader.line_num}: not valid CSV: {error}") from error
    if not columns or not rows:
        raise ValueError(f"{path} has no rows: its first line names the columns, the others are rows")
    return _column_names(path, columns), rows


def _json_table(path: str, text: str) -> tuple[list[str], list[list[str]]]:
    try:
        items = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
        raise ValueError(f"{path} must hold a list of objects")
    columns = list(items[0])
    for number, item in enumerate(items, 1):
        if item.keys() != items[0].keys():
            raise ValueError(f"{path}: object {number} has other keys than the first: {', '.join(item)}")
    values = [[item[column] for column in columns] for item in items]
    return _column_names(path, columns), [
        [value if isinstance(value, str) else json.dumps(value) for value in row] for row in values
    ]


def _column_names(path: str, columns: list[str]) -> list[str]:
    for name in columns:
        if not name or "}" in name or columns.count(name) > 1:
            raise ValueError(f"{path}: {name!r} is no name of a column, or stands there twice")
    return columns
