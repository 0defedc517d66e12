# SPDX-License-Identifier: Apache-2.0
"""Records whose JSON Schema says what each field is, by the string below it.

Pydantic's own `use_attribute_docstrings` reads and parses the source of every class where it is made, which was a
quarter of the start of each command; here it is read when a schema is asked for.
`fill_table` writes a table of a document.
"""

import ast
import inspect
import itertools
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema


class Documented(BaseModel):
    """Base of such records."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for field, text in field_texts(cls).items():
            name = cls.model_fields[field].alias or field
            properties.get(name, {}).setdefault("description", text)
        return schema


def field_texts(model: type[BaseModel]) -> dict[str, str]:
    """The text below each field of a model and of those that it inherits from; fields without one are left out."""
    texts: dict[str, str] = {}
    for part in reversed(model.__mro__):
        if issubclass(part, BaseModel) and part.__module__.partition(".")[0] != "pydantic":
            texts |= _texts_of(part)
    return {field: text for field, text in texts.items() if field in model.model_fields}


def _texts_of(part: type[Any]) -> dict[str, str]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(part))).body
    body = definition.body if isinstance(definition, ast.ClassDef) else []
    texts = {}
    for field, text in itertools.pairwise(body):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                texts[name] = inspect.cleandoc(words)
    return texts


def fill_table(page: str, headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A page with these rows in the table that has this header; the text about it is kept.

    Raises:
        ValueError: the header does not stand there exactly once.
    """
    head, *lines = (f"| {' | '.join(cells)} |\n" for cells in (headers, ["---"] * len(headers), *rows))
    around = re.split(rf"{re.escape(head)}(?:\|.*\n)*", page)
    if len(around) != 2:
        raise ValueError(f"{len(around) - 1} tables with the header {head}")
    return "".join((head, *lines)).join(around)
