# SPDX-License-Identifier: Apache-2.0
"""Wrong usage in our words: what is wrong with a command line, what was probably meant, and whose help says more."""

import re
from collections.abc import Sequence
from typing import Any

from steelyard.errors import plain_words
from steelyard.experiment.settings import SECTIONS, setting_name
from steelyard.paths import PROGRAM
from steelyard.yamlfile import nearest

_MEANT_COMMANDS = {
    "bench": "run",
    "benchmark": "run",
    "start": "up",
    "stop": "down",
    "check": "doctor",
    "show": "list",
    "ls": "list",
    "help": "--help",
    "version": "--version",
}
"""What other tools call a command."""
_MEANT_SETTINGS = {"duration": "measure", "time": "measure", "connections": "users", "concurrency": "users"}
"""What other tools call a setting."""
_PATTERNS = [
    (r"No such command '(.*?)'.*", r"there is no command '\1'"),
    (r"No such option: (\S+).*", r"there is no option \1"),
    (r"Missing argument '(.*?)'", r"\1 is missing"),
    (r"Missing option '(.*?)'", r"\1 is missing"),
    (r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", r"too many arguments: \1"),
    (r"Invalid value for '(.*?)': (?:'(?:-\w|--[\w-]+)' / )?", r"\1: "),
    (r"(?i)(?:dir|directory|path|file) '(.*)' does not exist", r"'\1' is not there"),
    (r"Option '(.*?)' requires an argument", r"\1 needs a value"),
    (r"Option '(.*?)' does not take a value", r"\1 takes no value"),
]
"""Sentences of the library that reads command lines, as we say it."""


def describe_usage(said: str, words: Sequence[str], root: Any) -> str:
    """One sentence of what the parser said.

    Args:
        said: the library's sentence.
        words: the command line after the program's name.
        root: the program's command.
    """
    path, command = _command_of(words, root)
    sentence = plain_words(said.strip().rstrip("."))
    for theirs, ours in _PATTERNS:
        sentence = re.sub(theirs, ours, sentence)
    return f"{sentence}{_suggestion(sentence, words, command)}: see {' '.join(path)} --help"


def _command_of(words: Sequence[str], root: Any) -> tuple[list[str], Any]:
    """The command that the words lead to, by its full name, as far as they do."""
    path, command = [PROGRAM], root
    for word in words:
        below = getattr(command, "commands", {})
        if word not in below:
            break
        path, command = [*path, word], below[word]
    return path, command


def _suggestion(sentence: str, words: Sequence[str], command: Any) -> str:
    if match := re.fullmatch(r"there is no command '(.*)'", sentence):
        if meant := _MEANT_COMMANDS.get(match[1]):
            return f" (did you mean {meant!r}?)"
        return nearest(match[1], list(getattr(command, "commands", {})))
    if match := re.fullmatch(r"there is no option (\S+)", sentence):
        # `-quick` is read as `-q`.
        typed_word = next(
            (f"-{word}" for word in words if word.startswith(match[1]) and word[1:2] != "-"), match[1]
        )
        return _suggest_option(typed_word, command)
    return ""


def _suggest_option(given: str, command: Any) -> str:
    known = [name for param in command.params for name in param.opts if name.startswith("--")]
    name = given.lstrip("-").replace("-", "_")
    settings = {
        setting_name(section, key) for section, model in SECTIONS.items() for key in model.model_fields
    }
    setting = _MEANT_SETTINGS.get(name, name)
    if "--set" in known and setting in settings:
        return f" (it is a setting: --set {setting}=VALUE)"
    return nearest(given, known)
