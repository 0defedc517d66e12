# SPDX-License-Identifier: Apache-2.0
"""Parts of `bench/olio_original.py`: the mix, ratios, statements, and users that two servers are asked by alike."""

from pathlib import Path

import pytest
from olio_original import MIX, of_the_mix, ratio
from variant_browser import NEXT, OlioPages
from variant_loads import sent_statements


@pytest.fixture
def pages(tmp_path: Path) -> OlioPages:
    for name in ("e1.jpg", "e1l.pdf"):
        (tmp_path / name).write_bytes(b"a file")
    return OlioPages("127.0.0.1", 1, tmp_path, "/webapp")


def test_the_mix_has_every_operation_of_the_chain() -> None:
    assert set(MIX) == set(NEXT)
    assert sum(MIX.values()) == pytest.approx(100, abs=0.02)


def test_an_operation_that_a_round_lacks_has_its_mean_in_the_mix() -> None:
    rows = {operation: {"ours": [1.0, 3.0]} for operation in MIX} | {"add-person": {"ours": [5.0]}}
    share = MIX["add-person"] / sum(MIX.values())
    assert of_the_mix(rows) == {"ours": pytest.approx([1 + 4 * share, 3 + 2 * share])}


def test_a_ratio_has_an_interval_from_two_rounds_on() -> None:
    assert ratio([1.0], [2.0]) == "0.50"
    assert ratio([1.0, 2.0], [2.0, 4.0]) == "0.50 (0.50 to 0.50)"


def test_servers_that_list_events_in_another_order_are_asked_for_the_same(pages: OlioPages) -> None:
    visitor = pages._visitor = pages._visitors[0]
    links = [f'<a href="/webapp/event/detail?socialEventID={event}">' for event in (31, 4, 200, 4)]
    before = pages._random.getstate()
    pages._choose_event("".join(links))
    chosen = visitor.event
    pages._random.setstate(before)
    pages._choose_event("".join(reversed(links)))
    assert visitor.event == chosen
    assert chosen in {"31", "4", "200"}


def test_a_page_without_events_draws_as_one_with_some(pages: OlioPages) -> None:
    pages._visitor = pages._visitors[0]
    before = pages._random.getstate()
    pages._choose_event("")
    after = pages._random.getstate()
    pages._random.setstate(before)
    pages._choose_event('<a href="/webapp/event/detail?socialEventID=1">')
    assert pages._random.getstate() == after


def test_statements_are_the_applications() -> None:
    log = """
    (XID = 1), Executing prepared statement: SELECT ID FROM PERSON :End prepared statement
    (XID = 1), Executing prepared statement: SELECT HASH FROM DATASET :End prepared statement
    (XID = 2), Executing prepared statement: UPDATE SOCIALEVENT SET TITLE = ? :End prepared statement with 1
    """
    assert sent_statements(log) == 2
