# SPDX-License-Identifier: Apache-2.0
"""Whatever stands in a YAML file, one sentence with file and line says what is wrong with it."""

from pathlib import Path
from typing import Any

import pytest
from hostile import calls
from pydantic import Field

from steelyard.errors import BadInput
from steelyard.yamlfile import MAX_BYTES, Duration, Model, Share, Size, nearest, read_yaml


class Inner(Model):
    size: Size = 0
    words: list[str] = Field(default_factory=list)


class Outer(Model):
    steelyard: int
    name: str = ""
    wait: Duration = 0.0
    share: Share = 0.0
    inner: Inner = Field(default_factory=Inner)
    parts: dict[str, Inner] = Field(default_factory=dict)
    anything: dict[str, Any] = Field(default_factory=dict)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.yaml"


def read(path: Path, text: str | bytes) -> Outer:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_yaml(path, Outer, "an experiment")[0]


def refused(path: Path, text: str | bytes) -> str:
    with pytest.raises(BadInput) as caught:
        read(path, text)
    sentence = str(caught.value)
    assert len(sentence.splitlines()) == 1, sentence
    assert len(sentence) <= 300
    assert sentence.isprintable()
    return sentence


def test_sizes_durations_and_shares_are_numbers(path: Path) -> None:
    found = read(path, "steelyard: 1\nwait: 500ms\nshare: 0.1%\ninner: {size: 2g}\n")
    assert (found.wait, found.share, found.inner.size) == (0.5, 0.001, 2 * 1024**3)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (
            "steelyard: 1\nnmae: x\n",
            2,
            "unknown key 'nmae' (did you mean 'name'?): allowed here are steelyard, name",
        ),
        (
            "steelyard: 1\ninner:\n  sise: 1\n",
            3,
            "unknown key 'inner.sise' (did you mean 'size'?): allowed here are size, words",
        ),
        ("steelyard: 1\nparts:\n  a: {}\n  b:\n    sise: 1\n", 5, "unknown key 'parts.b.sise'"),
        ("name: x\n", 1, "key 'steelyard' is missing: add it"),
        ("steelyard: 1\nwait: 60parsecs\n", 2, "wait: '60parsecs' is not a duration: write for example 30s"),
        ("steelyard: 1\nshare: 101%\n", 2, "share: '101%' is not a share: write for example 0.1%"),
        ("steelyard: 1\ninner: {size: many}\n", 2, "inner.size: 'many' is not a size"),
        (
            "steelyard: 1\ninner:\n  words:\n  - a\n  - {b: c}\n",
            5,
            "inner.words.1: must be a text (in quotes",
        ),
        ("steelyard: 1\nname: a\n\nname: b\n", 4, "key 'name' occurs twice: keep one of them"),
        ("steelyard: 1\ninner: {size: 1, size: 2}\n", 2, "key 'size' occurs twice"),
        ("steelyard: [1\n", 2, "not valid YAML"),
        ("steelyard: 1\n\tname: x\n", 2, "not valid YAML"),
        (
            "steelyard: 1\nname: !!python/name:os.system x\n",
            2,
            "the tag 'tag:yaml.org,2002:python/name:os.system' has no meaning here: leave it out",
        ),
        ("- steelyard\n", 1, "an experiment is a mapping of keys to values (start with `steelyard: 1`)"),
        ("just words\n", 1, "an experiment is a mapping"),
        ("", 1, "an experiment is a mapping"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(path: Path, text: str, line: int, says: str) -> None:
    sentence = refused(path, text)
    assert sentence.startswith(f"{path}:{line}: ")
    assert says in sentence


BOMB = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param(
            f"steelyard: 1\n{BOMB}",
            "more than 20000 keys or 1048576 characters, aliases counted",
            id="alias bomb",
        ),
        pytest.param("steelyard: 1\nanything: &x {again: *x}\n", "in itself", id="reference to itself"),
        pytest.param("steelyard: 1\nanything: &x [*x]\n", "in itself", id="list in itself"),
        pytest.param(
            "steelyard: 1\nanything: " + "[" * 40 + "]" * 40, "nested more than 30 deep", id="40 deep"
        ),
        pytest.param(
            "steelyard: 1\nanything: " + "[" * 20_000 + "]" * 20_000, "not valid YAML", id="20,000 deep"
        ),
        pytest.param(
            "steelyard: 1\nanything: " + "{a: " * 5_000 + "1" + "}" * 5_000, "not valid YAML", id="5,000 deep"
        ),
        pytest.param(b"steelyard: 1\nname: a\x07b\n", "not valid YAML: unacceptable character", id="bell"),
        pytest.param(b"steelyard: 1\nname: a\x00b\n", "not valid YAML: unacceptable character", id="zero"),
        pytest.param(b"steelyard: 1\nname: \xff\xfe\n", "cannot read", id="no UTF-8"),
        pytest.param("steelyard: 1\nanything: {a: !!bool maybe}\n", "not valid YAML", id="bool maybe"),
        pytest.param("steelyard: 1\nanything: {a: !!int x}\n", "not valid YAML", id="int x"),
        pytest.param("steelyard: 1\nanything: {a: !!timestamp x}\n", "the tag", id="timestamp x"),
        pytest.param("steelyard: 1\nanything: {a: !!set {b, c}}\n", "the tag", id="set"),
        pytest.param("steelyard: 1\nwait: 2024-13-45\n", "is not a duration", id="month 13"),
        pytest.param("steelyard: 1\nanything: {[1, 2]: 3}\n", "a key is a word", id="list as a key"),
        pytest.param("steelyard: 1\nanything: {{a: b}: 3}\n", "a key is a word", id="mapping as a key"),
        pytest.param(f"steelyard: {'9' * 5000}\n", "a number of more than 40", id="5,000 digits"),
        pytest.param(f"steelyard: 0x{'f' * 5000}\n", "a number of more than 40", id="5,000 hex digits"),
        pytest.param(f"steelyard: 1{':1' * 90_000}\n", "a number of more than 40", id="base 60"),
        pytest.param('steelyard: 1\nname: "a\\eb"\n', "control character '\\x1b'", id="escape"),
        pytest.param('steelyard: 1\n"a\\eb": 1\n', "control character '\\x1b'", id="escape in a key"),
        pytest.param('steelyard: 1\nname: "\\ud800"\n', "control character '\\ud800'", id="surrogate"),
        pytest.param(
            f"steelyard: 1\nname: &x {'y' * 60_000}\nanything: {{a: [{'*x, ' * 30}]}}\n",
            "or 1048576 characters, aliases counted",
            id="long text many times",
        ),
        pytest.param(
            "steelyard: 1\nanything:\n"
            + BOMB.replace("\na", "\n a").replace("a0", " a0", 1)
            + " ? *a9\n : x\n",
            "aliases counted",
            id="alias bomb in a key",
        ),
        pytest.param("steelyard: 1\nshare: 1.0e+999\n", "a number without end", id="infinite share"),
        pytest.param("steelyard: 1\nwait: 9999999h\n", "is more than a year", id="1,000 years"),
        pytest.param("steelyard: 1\ninner: {size: 1023k}\n", "less than 1 MiB", id="small size"),
        pytest.param(
            "steelyard: 1\n" + "# filler\n" * (MAX_BYTES // 9 + 1),
            "is larger than 256 KiB, which no experiment file is",
            id="large",
        ),
        pytest.param(
            "steelyard: 1\n---\nsteelyard: 1\n",
            "not valid YAML: but found another document",
            id="two documents",
        ),
        pytest.param(
            "steelyard: 1\nname: *nobody\n",
            "not valid YAML: found undefined alias 'nobody'",
            id="unknown alias",
        ),
        pytest.param("steelyard: 1\nwait: .nan\n", "a number without end", id="not a number"),
        pytest.param("steelyard: 1\nanything: {a: .inf}\n", "a number without end", id="infinite"),
    ],
)
def test_odd_files_are_refused_quickly(path: Path, text: str | bytes, says: str) -> None:
    sentence = refused(path, text)
    assert says in sentence
    assert str(path) in sentence
    assert calls(lambda: read(path, text)) < 5_000_000


def test_merged_keys_are_allowed(path: Path) -> None:
    found = read(path, "steelyard: 1\nparts:\n  a: &a {size: 1m, words: [x]}\n  b: {<<: *a, size: 2m}\n")
    assert (found.parts["b"].size, found.parts["b"].words) == (2 * 1024**2, ["x"])


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    for odd in (tmp_path, tmp_path / "none.yaml", tmp_path / ("n" * 300 + ".yaml")):
        with pytest.raises(BadInput, match="cannot read"):
            read_yaml(odd, Outer, "an experiment")


def test_a_near_word_is_offered() -> None:
    assert nearest("usres", ["users", "rate"]) == " (did you mean 'users'?)"
    assert nearest("zebra", ["users", "rate"]) == ""
