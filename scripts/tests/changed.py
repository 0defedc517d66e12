# SPDX-License-Identifier: Apache-2.0
"""What programs and kernels might print one day in the place of what is parsed today, drawn by Hypothesis.

A parser that meets such a text tells what it told before, or that it does not know; never another number. So no change
here makes a number of another number: texts are cut off, words are missing, names, units and the decimal point are
others, and numbers are none.
"""

import re
from collections.abc import Callable, Collection

from hypothesis import strategies as st

NO_NUMBERS = (
    "",
    "n/a",
    "-",
    "?",
    "NaN",
    "none",
    "1,2,3",
    "0x",
    "--",
    "one",
    "\u0661\u0662",
    "\N{SUPERSCRIPT TWO}",
)
_UNITS = ("ms", "us", "s", "ns", "kB", "KB", "MB", "K", "M", "G", "Ki", "Mi", "")
GARBAGE = st.text(
    st.characters(exclude_characters="0123456789", codec="utf-8"), max_size=200
) | st.sampled_from(["", "\n", "<html>502</html>\n", "{}", "[]", "null", "Permission denied\n", "\0" * 64])


def cut(text: str) -> st.SearchStrategy[str]:
    """Cut off somewhere."""
    return st.integers(0, max(0, len(text) - 1)).map(lambda end: text[:end])


def without_a_word(text: str) -> st.SearchStrategy[str]:
    """Without one of its words."""
    return _one_of(text, r"\S+", st.just(""))


def renamed(text: str, names: str = r"[A-Za-z_][\w-]*") -> st.SearchStrategy[str]:
    """One of its names is another one, everywhere."""
    found = sorted(set(re.findall(names, text)))
    if not found:
        return st.nothing()
    return st.sampled_from(found).map(lambda name: re.sub(rf"\b{re.escape(name)}\b", f"x{name}y", text))


def in_other_units(text: str, known: Collection[str] = ()) -> st.SearchStrategy[str]:
    """One number, or all, with another unit; all in another `known` unit are true figures again, and left out."""
    pattern = r"(?<=\d)( ?)(ms|us|ns|s|kB|KB|Ki|Mi|Gi|K|M|G|m)\b"
    found = sorted({match[0] for match in re.finditer(pattern, text)})
    if not found:
        return st.nothing()

    def change(pair: tuple[str, str, int]) -> str:
        old, new, count = pair
        space = " " if old.startswith(" ") else ""
        return re.sub(rf"(?<=\d){re.escape(old)}\b", f"{space}{new}", text, count=count)

    def is_true(pair: tuple[str, str, int]) -> bool:
        old, new, count = pair
        return count == 0 and {old.strip(), new} <= set(known)

    changes = st.tuples(st.sampled_from(found), st.sampled_from(_UNITS), st.sampled_from([0, 1]))
    return changes.filter(lambda pair: pair[0].strip() != pair[1] and not is_true(pair)).map(change)


def without_a_number(text: str) -> st.SearchStrategy[str]:
    """One of its numbers is none."""
    return _one_of(text, r"(?<![\w.])\d+(?:\.\d+)?", st.sampled_from(NO_NUMBERS))


def in_another_language(text: str) -> st.SearchStrategy[str]:
    """With decimal commas."""
    return st.just(re.sub(r"(?<=\d)\.(?=\d)", ",", text))


def changed(text: str, *but: Callable[[str], st.SearchStrategy[str]]) -> st.SearchStrategy[str]:
    """Any of these changes `but` some, or garbage."""
    kinds = (cut, without_a_word, renamed, in_other_units, without_a_number, in_another_language)
    return st.one_of(*(kind(text) for kind in kinds if kind not in but), GARBAGE)


def _one_of(text: str, pattern: str, instead: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    places = [match.span() for match in re.finditer(pattern, text)]
    if not places:
        return st.nothing()
    return st.tuples(st.sampled_from(places), instead).map(
        lambda pair: text[: pair[0][0]] + pair[1] + text[pair[0][1] :]
    )
