# SPDX-License-Identifier: Apache-2.0
"""Reads a YAML file into a model; whatever is wrong with it is refused with file, line and what is allowed.

Through it go experiment files and workload files: text -> lines of keys (duplicates refused) -> model -> one sentence.
"""

import difflib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeVar

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from steelyard.documented import Documented
from steelyard.errors import BadInput, plain_words
from steelyard.paths import is_file
from steelyard.regular import read_text
from steelyard.units import MIB, parse_duration, parse_share, parse_size, quote_value, shorten

KeyPath = tuple[str | int, ...]
M = TypeVar("M", bound=BaseModel)
MAX_BYTES = 256 * 1024
"""Larger than any file a person writes."""
MAX_DEPTH = 30
MAX_KEYS = 20_000
"""Also counted where an alias repeats them, so that a small file cannot stand for a huge one."""
MAX_TEXT = 4 * MAX_BYTES
MAX_DIGITS = 40
"""Of a number as it is written: Python refuses to print one of 5,000 digits, and takes long to read it."""
_CORE = "tag:yaml.org,2002:"
_NUMBERS = {_CORE + "int", _CORE + "float"}
_TAGS = _NUMBERS | {_CORE + name for name in ("bool", "map", "merge", "null", "seq", "str")}
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""All but tab and line ends; halves of surrogate pairs cannot be written to any file."""


class _Loader(yaml.SafeLoader):
    """The safe loader without dates and other types that no file here has: what looks like a date is text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in known if tag in _TAGS]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _finite(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float:
    value = loader.construct_yaml_float(node)
    if not math.isfinite(value):
        raise yaml.constructor.ConstructorError(None, None, "a number without end", node.start_mark)
    return value


_Loader.add_constructor(_CORE + "float", _finite)


def _json_schema(json_type: str, pattern: str, example: str) -> WithJsonSchema:
    return WithJsonSchema({"type": ["string", json_type], "pattern": pattern, "examples": [example]})


def _memory(text: str | int) -> int:
    size = parse_size(text)
    if size < MIB:
        raise ValueError(f"{quote_value(text)} is less than 1 MiB: write for example 512m or 2g")
    return size


Size = Annotated[int, BeforeValidator(_memory), _json_schema("integer", r"^\d+\s*[kKmMgG]?[bB]?$", "1536m")]
DURATION_PATTERN = r"^\d+(\.\d+)?\s*(ms|s|m|h)?$"
Duration = Annotated[float, BeforeValidator(parse_duration), _json_schema("number", DURATION_PATTERN, "30s")]
Limit = Annotated[Duration, Field(ge=0.001)]
"""A time that something may take: at least a millisecond."""
AnswerLimit = Annotated[Limit, Field(le=600)]
"""How long an injector waits for an answer, a message or an event: ten minutes at most (Settings.java)."""
Share = Annotated[float, BeforeValidator(parse_share), _json_schema("number", r"^\d+(\.\d+)?\s*%?$", "0.1%")]
Scalar = str | int | float | bool


def _nearest_key(given: str, allowed: list[str]) -> str:
    meant = _MEANT_KEYS.get(given)
    return f" (did you mean {meant!r}?)" if meant in allowed else nearest(given, allowed)


_MEANT_KEYS = {
    "Xmx": "heap",
    "Xms": "initial_heap",
    "Xmn": "nursery",
    "collector": "gc",
    "repetitions": "blocks",
    "runs": "blocks",
    "duration": "measure",
    "url": "path",
    "code": "status",
    "random": "choose",
}
"""What others call a key."""
_UNSUPPORTED = {
    "http2": "injectors speak HTTP/1.1, which servers with both are spoken to in: leave it out",
}
"""A key that people look for -> why there is none."""
_TELLTALE = {
    "topologies": ("a workload", "give it with --workload"),
    "factors": ("an experiment", "give it to `run` or `plan`"),
}
"""A key that tells whose file it is -> whose, and what to do with it."""
_LISTED = 8
"""Names that a sentence can hold."""
_MEANT_CHOICES = {
    "g1": "regional",
    "g1gc": "regional",
    "parallel": "generational",
    "gencon": "generational",
    "zgc": "z",
    "docker": "compose",
    "podman": "compose",
    "k8s": "kubernetes",
    "huge": "large",
    "startup": "start-up",
}
"""What others call a choice."""


class Model(Documented):
    """Base of every part of a file: unknown keys are refused, values never change after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)
    exactly_one: ClassVar[tuple[str, ...]] = ()
    """Fields of which one has to be given, and no more."""

    @classmethod
    def key(cls, field: str) -> str:
        """A field as files name it."""
        return cls.model_fields[field].alias or field

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        allowed = [cls.key(field) for field in cls.model_fields]
        unknown = [str(key) for key in data if key not in allowed] if isinstance(data, dict) else []
        if unknown:
            hint = _UNSUPPORTED.get(unknown[0], "allowed here are {allowed}")
            raise PydanticCustomError(
                "unknown_key",
                "unknown key '{key}'" + _nearest_key(unknown[0], allowed) + ": " + hint,
                {"key": unknown[0], "allowed": ", ".join(allowed)},
            )
        return data

    @model_validator(mode="after")
    def _given_once(self) -> Self:
        if self.exactly_one and sum(getattr(self, field) is not None for field in self.exactly_one) != 1:
            *others, last = map(self.key, self.exactly_one)
            raise ValueError(f"give exactly one of {', '.join(others)} and {last}")
        return self


def key_error(at: KeyPath, sentence: str) -> PydanticCustomError:
    """The error of a key further down than the part that is checked."""
    return PydanticCustomError("misplaced", "{sentence}", {"at": at, "sentence": sentence})


@dataclass(frozen=True)
class Lines:
    """Where each key of a file stands."""

    file: Path
    numbers: dict[KeyPath, int] = field(default_factory=lambda: {(): 1})

    def refuse(self, at: KeyPath, sentence: str) -> BadInput:
        """The error for a key of the file, with its line."""
        known = _known_prefix(at, self.numbers)
        where = ".".join(map(str, at))
        return BadInput(f"{self.file}:{self.numbers[known]}: {where}: {sentence}")


def read_yaml(path: Path, model: type[M], noun: str) -> tuple[M, Lines]:
    """Read and check a file; `what` it is, for people: `an experiment`.

    Raises:
        BadInput: with `file:line`, the key, and the allowed keys or values.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadInput(
                f"{path} is larger than {MAX_BYTES // 1024} KiB, which no {noun.rsplit(maxsplit=1)[-1]} file is"
            )
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"cannot read {path}: {why}") from error
    lines = Lines(path)
    data = parse(text, lines)
    if not isinstance(data, dict):
        raise BadInput(f"{path}:1: {noun} is a mapping of keys to values (start with `steelyard: 1`)")
    for key, (owner, advice) in _TELLTALE.items():
        if key in data and key not in model.model_fields and owner != noun:
            raise BadInput(f"{path} is {owner} file, and not {noun} file: {advice}")
    try:
        return model.model_validate(data, context=lines), lines
    except ValidationError as error:
        raise BadInput(_first_sentence(error, lines)) from error


def parse(text: str, lines: Lines) -> Any:
    """The value that a YAML text stands for; `lines` learns where each key is.

    Raises:
        BadInput: with `file:line`.
    """
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _Index(lines).add(node, ())
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BadInput(
            f"{lines.file}:{line}: not valid YAML: {_plain_problem(str(error.problem))}"
        ) from error
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        # The reader of characters, the constructors of tagged scalars, and texts that are nested thousands deep.
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInput(f"{lines.file}:1: not valid YAML: {reason}") from error


_PROBLEMS = {
    r"found character '\\t'.*": "a tab where YAML has blanks: indent with blanks",
    r"expected <block end>, but found.*": (
        "the line is indented otherwise than those that it belongs to: put as many blanks before it"
    ),
    r".*but got '<stream end>'": "the file ends before a bracket or a quote is closed",
    r"expected ',' or '([]}])', but got .*": r"a bracket is open: close it with \1, or put a comma between",
}


def _plain_problem(problem: str) -> str:
    for theirs, ours in _PROBLEMS.items():
        problem = re.sub(theirs, ours, problem)
    return problem


def find_file(name: str, named: Mapping[str, Path], noun: str, more: str = "") -> Path:
    """A file given by name, or by a path that ends in `.yaml`.

    Raises:
        BadInput: there is none; the sentence lists the names that there are, and `more`.
    """
    if name.endswith((".yaml", ".yml")):
        if not is_file(Path(name)):
            raise BadInput(f"there is no {noun} file {name}: check the path")
        return Path(name)
    if name not in named:
        known = list(named)
        listed = (
            f"there are {', '.join(known)}" if len(known) <= _LISTED else "`./steelyard list` shows them all"
        )
        raise BadInput(f"unknown {noun} {name!r}{nearest(name, known)}: {listed}{more}")
    return named[name]


def nearest(word: str, known: list[str]) -> str:
    """` (did you mean ...?)`, or nothing."""
    by_letters = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word[:60].lower(), by_letters, n=1)
    return f" (did you mean {by_letters[near[0]]!r}?)" if near else ""


def nearest_choice(given: object, sentence: str) -> str:
    """The same, of the choices that a sentence lists in quotes (`must be 'a' or 'b'`)."""
    if not sentence.startswith("must be '"):
        return ""
    choices = re.findall(r"'([^']+)'", sentence)
    meant = _MEANT_CHOICES.get(str(given).lower())
    return f" (did you mean {meant!r}?)" if meant in choices else nearest(str(given), choices)


def first_error(error: ValidationError) -> tuple[str, str]:
    """Where the first error of a refused record is, and what."""
    first = error.errors()[0]
    at = (*first["loc"], *first.get("ctx", {}).get("at", ()))
    return ".".join(map(str, at)), plain_words(first["msg"].removeprefix("Value error, "))


class _Index:
    """Notes the line of every key and item, and refuses what would be harmful or misunderstood further on."""

    def __init__(self, lines: Lines) -> None:
        self.lines, self.characters = lines, 0

    def add(self, node: yaml.Node, at: KeyPath) -> None:
        """A node and all that is in it (raises BadInput)."""
        if why := self._why_not(node, at):
            raise self._refuse(node, why)
        if isinstance(node, yaml.SequenceNode):
            for position, value in enumerate(node.value):
                self.lines.numbers[*at, position] = value.start_mark.line + 1
                self.add(value, (*at, position))
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    raise self._refuse(key, "a key is a word")
                self.add(key, at)
                here = (*at, str(key.value))
                if here in self.lines.numbers:
                    raise self._refuse(key, f"key {key.value!r} occurs twice: keep one of them")
                self.lines.numbers[here] = key.start_mark.line + 1
                self.add(value, here)

    def _why_not(self, node: yaml.Node, at: KeyPath) -> str | None:
        text = node.value if isinstance(node, yaml.ScalarNode) else ""
        self.characters += len(text)
        if len(at) > MAX_DEPTH:
            return f"nested more than {MAX_DEPTH} deep, or in itself"
        if len(self.lines.numbers) > MAX_KEYS or self.characters > MAX_TEXT:
            return f"more than {MAX_KEYS} keys or {MAX_TEXT} characters, aliases counted"
        if node.tag not in _TAGS:
            return f"the tag {node.tag!r} has no meaning here: leave it out"
        if node.tag in _NUMBERS and len(text) > MAX_DIGITS:
            return f"not valid YAML: a number of more than {MAX_DIGITS} characters"
        odd = CONTROL.search(text)
        return f"a text with the control character {odd[0]!r}" if odd else None

    def _refuse(self, node: yaml.Node, why: str) -> BadInput:
        return BadInput(f"{self.lines.file}:{node.start_mark.line + 1}: {why}")


def _first_sentence(error: ValidationError, lines: Lines) -> str:
    """The first error in file order as one sentence; unknown keys first, as they often cause the others."""
    errors = []
    for detail in error.errors():
        unknown = detail["type"] == "unknown_key"
        more = (detail["ctx"]["key"],) if unknown else detail.get("ctx", {}).get("at", ())
        loc = (*detail["loc"], *more)
        at = _known_prefix(loc, lines.numbers)
        errors.append((not unknown, lines.numbers[at], at, detail))
    _, line, at, detail = min(errors, key=lambda item: item[:2])
    return f"{lines.file}:{line}: {_sentence(detail, at)}"


def _known_prefix(loc: tuple[int | str, ...], numbers: dict[KeyPath, int]) -> KeyPath:
    """The part of an error's location that exists in the file (pydantic adds names of union members)."""
    at: KeyPath = ()
    for part in loc:
        if (*at, part) in numbers:
            at = (*at, part)
    return at


def _sentence(detail: ErrorDetails, at: KeyPath) -> str:
    where = ".".join(map(str, at))
    message = plain_words(detail["msg"].removeprefix("Value error, "))
    if detail["type"] == "unknown_key":
        return message.replace(repr(at[-1]), repr(where), 1) if at else message
    if detail["type"] == "missing":
        return f"key {'.'.join(map(str, (*at, detail['loc'][-1])))!r} is missing: add it"
    near = nearest_choice(detail["input"], message)
    if not where:
        return message + near
    given = quote_value(detail["input"]) if detail["input"] is not None else "empty"
    # A part with all its keys tells nothing that the file does not, nor what the sentence begins with.
    is_known = isinstance(detail["input"], Mapping) or message.startswith(given)
    return (
        f"{where}: {message[0].lower()}{message[1:]}{'' if is_known else f' (it is {shorten(given)})'}{near}"
    )
