# SPDX-License-Identifier: Apache-2.0
"""What injectors look for in answers: regular expressions of Java, JSONPaths and CSS selectors.

They are read by the injector alone (`java.util.regex.Pattern`, Gatling). What it would refuse is refused here, where
the file and its line are known; Python's own expressions differ in both directions. The rules are those of JDK 17 and
25, held against them by `loadgen/src/test/resources/expressions.json`.
"""

import re
import sys

_CHARACTER = r"\\(?:x\{[0-9a-fA-F]+\}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|0[0-7]{1,2}|c.|[aefnrt]|[^a-zA-Z0-9])"
_CLASS = r"\\(?:[dDhHsSvVwW]|[pP](?:\{[^}]+\}|[^{])|N\{[A-Z][A-Z0-9 -]+\})"
_TOKEN = re.compile(
    rf"(?P<backreference>\\(?:k<(?P<referred>[a-zA-Z][a-zA-Z0-9]*)>|[1-9]))"
    rf"|(?P<escape>{_CHARACTER}|{_CLASS}|\\b\{{g\}}|\\[bABGRXZz])"
    r"|(?P<lone>\\.?)"
    r"|(?P<flags>\(\?(?P<on>[idmsuxU]*)(?:-[idmsuxU]*)?\))"
    r"|(?P<group>\((?!\?)|\(\?(?:[=!>]|<[=!]|<(?P<name>[a-zA-Z][a-zA-Z0-9]*)>|[idmsuxU]*(?:-[idmsuxU]*)?:))"
    r"|(?P<extension>\(\?(?:P?<|P=|\(|.?))"
    r"|(?P<end>\))|(?P<set>\[\^?)|(?P<either>\|)"
    r"|(?P<quantifier>(?:[*+?]|\{(?P<least>\d+)(?P<bounded>,?)(?P<most>\d*)\})[?+]?)"
    r"|(?P<brace>\{)|(?P<other>.)",
    re.DOTALL,
)
_MEMBER = re.compile(
    rf"(?P<nested>\[\^?)|&&|{_CLASS}|(?P<low>{_CHARACTER}|[^\\])(?:-(?P<high>{_CHARACTER}|{_CLASS}|[^]\\[]))?"
    r"|(?P<lone>\\.?)",
    re.DOTALL,
)
_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|\Z)|\\.", re.DOTALL)
_COUNTED = re.compile(r"\((?!\?[=!>]|\?<[=!])")
"""Of a group whose repetition within one that looks behind has to be bounded."""
_BEHIND = {"(?<=", "(?<!"}
_WITHOUT_LENGTH = ("flags", "group", "either", "quantifier")
_MAX_ROUNDS = 2**31 - 1
_CONTROLS = {"a": 7, "e": 27, "f": 12, "n": 10, "r": 13, "t": 9}
_HINTS = {
    "(?P<": "write (?<name>...), with a name of letters and digits",
    "(?<": "write (?<name>...), with a name of letters and digits",
    "(?P=": r"write \k<name>",
    "(?#": "leave the comment out",
}


def check_expression(written: str) -> None:
    """Raise ValueError where a text is no regular expression of Java."""
    _Expression(
        _QUOTED.sub(lambda match: match[0] if match[1] is None else re.escape(match[1]), written)
    ).check()


def check_path(written: str) -> None:
    """Raise ValueError where a text cannot be a JSONPath: its brackets and quotes are looked at, no more."""
    if not written.startswith("$"):
        raise ValueError("it is no JSONPath: begin with `$`")
    _check_brackets(written, "JSONPath")


def check_selector(written: str) -> None:
    """Raise ValueError where a text cannot be a CSS selector: its brackets and quotes are looked at, no more."""
    if not written.strip():
        raise ValueError("it is no CSS selector: name an element")
    _check_brackets(written, "CSS selector")


def _check_brackets(written: str, noun: str) -> None:
    opened: list[str] = []
    for token in re.finditer(r"""\\.|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[\[\]()"']""", written, re.DOTALL):
        if token[0] in {"[", "("}:
            opened.append(token[0])
        elif token[0] in {'"', "'"}:
            raise ValueError(f"it is no {noun}: {token[0]} is not closed: close it")
        elif token[0] in {"]", ")"}:
            if not opened or opened.pop() + token[0] not in {"[]", "()"}:
                raise ValueError(f"it is no {noun}: {token[0]} closes nothing: leave it out")
            if written[token.start() - 1] == "[":
                raise ValueError(f"it is no {noun}: [] is empty: say what it selects")
    if opened:
        raise ValueError(f"it is no {noun}: {opened[-1]} is not closed: close it")


def _refuse(problem: str, hint: str) -> ValueError:
    return ValueError(f"it is no regular expression of Java, which the injector speaks: {problem}: {hint}")


class _Expression:
    """One that is read from its beginning to its end, without quotes by `\\Q`."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.opened: list[str] = []
        """Beginnings of groups that are open."""
        self.last = ""
        """What a quantifier would repeat: `(` for a group that takes characters; empty for nothing."""
        self.names: set[str] = set()
        self.comments = False

    def check(self) -> None:
        """Raise ValueError where it is none."""
        while (token := _TOKEN.match(self.text, self.at)) is not None:
            self.at = token.end()
            last, self.last = self.last, "" if token.lastgroup in _WITHOUT_LENGTH else token[0]
            match token.lastgroup:
                case "quantifier":
                    self._quantifier(token, last)
                case "group":
                    self._group(token)
                case "end":
                    if not self.opened:
                        raise _refuse(") closes nothing", r"write \) for the character")
                    self.last = "(" if _COUNTED.match(group := self.opened.pop()) else group
                case "set":
                    self._set()
                case "backreference":
                    self._reference(token)
                case "flags":
                    self.comments |= "x" in token["on"]
                case _:
                    self._character(token)
        if self.opened:
            raise _refuse(f"{self.opened[-1]} is not closed", r"close it, or write \( for the character")

    def _character(self, token: re.Match[str]) -> None:
        """Whatever is of one piece."""
        piece = token[0]
        match token.lastgroup:
            case "lone":
                raise _lone(piece)
            case "escape":
                _value(piece)
            case "extension":
                raise _refuse(f"it has no group {piece}", _HINTS.get(piece, r"write \( for the character"))
            case "brace":
                raise _refuse("{ is no quantifier like {2} or {2,5}", r"write \{ for the character")
            case _ if piece == "#" and self.comments:
                self.at = (self.text + "\n").index("\n", self.at)

    def _quantifier(self, token: re.Match[str], repeated: str) -> None:
        piece = token[0]
        if token["least"] is None and not repeated:
            raise _refuse(f"{piece} has nothing to repeat", rf"write \{piece[0]} for the character")
        least, most = int(token["least"] or 0), int(token["most"] or _MAX_ROUNDS)
        if not least <= most <= _MAX_ROUNDS:
            raise _refuse(f"{piece} is no range", "give the smaller number first")
        endless = piece[0] in "*+" or (token["bounded"] and not token["most"])
        if endless and repeated in (r"\R", "(") and _BEHIND.intersection(self.opened):
            raise _refuse(f"{piece} after a group in one that looks behind has no end", "bound it: {1,9}")

    def _group(self, token: re.Match[str]) -> None:
        self.opened.append(token[0])
        if (name := token["name"]) in self.names:
            raise _refuse(f"two groups have the name {name}", "name each once")
        self.names |= {name} - {None}
        self.comments |= "x" in token[0].partition("-")[0] and name is None

    def _reference(self, token: re.Match[str]) -> None:
        if token["referred"] is not None and token["referred"] not in self.names:
            raise _refuse(f"{token[0]} names no group before it", "give a group that name")
        if _BEHIND.intersection(self.opened):
            raise _refuse(f"{token[0]} in a group that looks behind has no greatest length", "write it out")

    def _set(self) -> None:
        """A class of characters, and those in it."""
        depth, first = 1, self.at
        while depth:
            if self.at > first and self.text.startswith("]", self.at):
                self.at, depth = self.at + 1, depth - 1
                continue
            token = _MEMBER.match(self.text, self.at)
            if token is None:
                raise _refuse("[ is not closed", r"close it, or write \[ for the character")
            self.at = token.end()
            if token["nested"] is not None:
                depth, first = depth + 1, self.at
            elif token["lone"] is not None:
                raise _lone(token[0])
            elif token["low"] is not None and _value(token["low"]) > _value(token["high"] or "\U0010ffff"):
                raise _refuse("a range in [...] ends before it begins", r"write \- for the character")


def _lone(piece: str) -> ValueError:
    if piece == "\\":
        return _refuse("it ends in a lone backslash", r"write \\ for the character")
    return _refuse(f"{piece} means nothing there", f"write {piece[1:]} for the character")


def _value(piece: str) -> int:
    """The character that a piece stands for; -1 for one of several (raises ValueError)."""
    if piece[0] != "\\":
        return ord(piece)
    match piece[1]:
        case "x" | "u":
            value = int(piece[2:].strip("{}"), 16)
            if value > sys.maxunicode:
                raise _refuse(f"{piece} is no character", "write a smaller number")
            return value
        case "0":
            return int(piece[1:], base=8)
        case "c":
            return ord(piece[2]) ^ 64
        case letter:
            return -1 if re.fullmatch(_CLASS, piece) else _CONTROLS.get(letter, ord(letter))
