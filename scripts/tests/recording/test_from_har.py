# SPDX-License-Identifier: Apache-2.0
"""Recordings of browsers become journeys: files folded, tokens saved, hosts filtered, guesses told."""

import json
import re
from pathlib import Path

import pytest
from recordings import SHOP, as_json, entry, form, made

from steelyard.errors import BadInput
from steelyard.recording.har import read_har

RECORDINGS = Path(__file__).parents[1] / "fixtures" / "recordings"
LOGIN_PAGE = """<form action="login" method="post"><input type=hidden name=csrf value="abc123def">
<input name=user><input type=password name=pass><textarea name=note>as it is</textarea>
<select name=size><option value=s><option value=m selected></select><input type=submit name=go value=Go></form>"""


def test_pages_have_their_files_and_other_hosts_are_left_out(tmp_path: Path) -> None:
    text, steps = made(
        tmp_path,
        entry(0, "http://cdn/first.js", kind="text/javascript"),
        entry(1, f"{SHOP}/home?x=1#top", "<p>"),
        entry(1.1, f"{SHOP}/style.css", kind="text/css", headers=[("ETag", '"1"')]),
        entry(1.2, f"{SHOP}/logo.png", kind="image/png"),
        entry(1.3, f"{SHOP}/logo.png", kind="image/png"),
        entry(1.4, f"{SHOP}/gone.png", kind="image/png", status=404),
        entry(1.5, "http://tracker/pixel", kind="image/gif"),
        entry(4, f"{SHOP}/next", "<p>"),
    )
    assert [step["path"] for step in steps] == ["/home?x=1", "/next"]
    assert steps[0]["parts"] == [{"path": "/style.css", "conditional": True}, {"path": "/logo.png"}]
    assert steps[0]["pause"] == {"think": "3s"}
    assert "# left out, of other hosts: cdn (1), tracker (1)" in text
    assert "# left out, with status 404: /gone.png" in text


def test_forms_are_sent_with_what_the_page_says(tmp_path: Path) -> None:
    sent = form("csrf=abc123def&user=ann&pass=s3cret&note=as+it+is&size=m&go=Go")
    text, steps = made(
        tmp_path,
        entry(0, f"{SHOP}/shop/login", LOGIN_PAGE),
        entry(1, f"{SHOP}/shop/login", method="POST", status=302, sent=sent, headers=[("Location", "/home")]),
        entry(1.1, f"{SHOP}/home", "<p>"),
    )
    entered = {"user": "ann", "pass": "s3cret", "go": "Go"}
    assert steps[1]["submit"] == {"form": 'form[action="login"]', "fields": entered}
    assert (steps[1]["check"], steps[2]["path"]) == ({"status": 302}, "${location}")
    assert steps[1]["save"] == {"location": {"header": "Location"}}
    assert "# guessed: pass was typed" in text
    assert "abc123def" not in text


def test_what_stands_in_a_form_is_what_the_injector_sends(tmp_path: Path) -> None:
    """HTML, section 4.10.21.4: an option without a value is its text, and what is disabled is not sent."""
    page = """<form id=f method=post action=/buy><input name=qty value=5><input name=note>
    <select name=colour><option disabled>Choose</option><option> Dark
    red <option>Blue</select><input name=off value=1 disabled></form>"""
    _, steps = made(
        tmp_path,
        entry(0, f"{SHOP}/", page),
        entry(1, f"{SHOP}/buy", method="POST", sent=form("qty=5&note=&colour=Dark+red")),
    )
    assert steps[1]["submit"] == {"form": "form#f"}


def test_values_that_answers_gave_are_sent_back(tmp_path: Path) -> None:
    answer = '{"items": [{"id": 4711}], "accessToken": "tok-1234-abcd"}'
    text, steps = made(
        tmp_path,
        entry(
            0,
            f"{SHOP}/",
            "<meta name=build content=b-99887766>",
            headers=[("Set-Cookie", "XSRF=zzz999; Path=/")],
        ),
        entry(1, f"{SHOP}/api/items", answer, kind="application/json", asked=[("X-XSRF", "zzz999")]),
        entry(
            2,
            f"{SHOP}/api/items/4711/order",
            '{"order": "ord-99-xy"}',
            method="POST",
            status=201,
            kind="application/json",
            sent=as_json('{"id": 4711, "token": "tok-1234-abcd", "count": 2, "build": "b-99887766"}'),
            asked=[
                ("Authorization", "Bearer tok-1234-abcd"),
                ("Cookie", "XSRF=zzz999"),
                ("X-Own", "typed 1 value"),
            ],
        ),
        entry(3, f"{SHOP}/orders/ord-99-xy?q=a%20b%26c", "<i>tea-time-42-x</i>"),
        entry(4, f"{SHOP}/search", method="POST", sent=form("word=tea-time-42-x&other=typed")),
    )
    assert steps[0]["save"] == {
        "xsrf": {"cookie": "XSRF"},
        "build": {"css": 'meta[name="build"]', "attribute": "content"},
    }
    assert steps[1]["headers"] == {"X-XSRF": "${xsrf}"}
    assert steps[1]["save"] == {"id": {"json": "$.items[0].id"}, "access_token": {"json": "$.accessToken"}}
    assert steps[2]["path"] == "/api/items/${id}/order"
    assert steps[2]["body"] == '{"id": ${id}, "token": "${access_token}", "count": 2, "build": "${build}"}'
    assert steps[2]["headers"] == {"Authorization": "Bearer ${access_token}", "X-Own": "typed 1 value"}
    assert steps[3]["path"] == "/orders/${order}?q=a%20b%26c"
    assert steps[4]["form"] == {"word": "${word}", "other": "typed"}
    assert steps[3]["save"] == {"word": {"regex": "<i>([^<]+)<"}}
    assert "# guessed: id: one of several values: which one?" in text
    assert "# guessed: word: found by the text around it" in text


def test_what_a_person_typed_is_no_token(tmp_path: Path) -> None:
    _, steps = made(
        tmp_path,
        entry(0, f"{SHOP}/", "<p>"),
        entry(1, f"{SHOP}/hello", "<p>welcome user-12345</p>", method="POST", sent=form("name=user-12345")),
        entry(2, f"{SHOP}/again", method="POST", sent=form("name=user-12345")),
    )
    assert steps[2]["form"] == {"name": "user-12345"}
    assert "save" not in steps[1]


def test_files_are_asked_for(tmp_path: Path) -> None:
    sent = {
        "mimeType": "multipart/form-data; boundary=x",
        "params": [
            {"name": "title", "value": "a leaf"},
            {"name": "photo", "fileName": "leaf.png", "contentType": "image/png"},
        ],
    }
    text, steps = made(
        tmp_path, entry(0, f"{SHOP}/", "<p>"), entry(1, f"{SHOP}/up", method="POST", sent=sent, status=500)
    )
    photo = {"content": "content", "filename": "leaf.png", "type": "image/png"}
    assert steps[1]["multipart"] == {"title": "a leaf", "photo": photo}
    assert "# guessed: recordings do not hold files" in text
    assert "# guessed: the recording has the error 500 here" in text


def test_a_host_is_chosen(tmp_path: Path) -> None:
    recorded = (entry(0, f"{SHOP}/", "<p>"), entry(1, "http://api/v", "{}", kind="application/json"))
    assert [step["path"] for step in made(tmp_path, *recorded, host="api")[1]] == ["/v"]
    with pytest.raises(BadInput, match="nothing was recorded of other: there are api, shop:8080"):
        made(tmp_path, *recorded, host="other")
    with pytest.raises(BadInput, match="only static files were recorded"):
        made(tmp_path, entry(0, f"{SHOP}/a.css", kind="text/css"))
    with pytest.raises(BadInput, match="which a journey would read as a name"):
        made(tmp_path, entry(0, f"{SHOP}/", method="POST", sent=form("a=%24%7Bx%7D")))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "not valid JSON"),
        ("[]", "a HAR file has requests in log.entries"),
        ('{"log": {"entries": []}}', "a HAR file has requests in log.entries"),
        (
            '{"log": {"entries": [{"request": {}}]}}',
            r"log.entries\[0\] cannot be read \(it has no 'response'\): save",
        ),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "x.har"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadInput, match=says):
        read_har(path)
    with pytest.raises(BadInput, match="cannot read"):
        read_har(tmp_path / "gone.har")


def test_json_is_read_whatever_its_type_says_it_is(tmp_path: Path) -> None:
    answer = '{"legs": [{"seat": {"id": "AA1"}}, {"seat": {"id": "AA2"}}]}'
    _, steps = made(
        tmp_path,
        entry(0, f"{SHOP}/legs", answer, kind="text/plain; charset=utf-8"),
        entry(1, f"{SHOP}/book", method="POST", sent=form("there=AA1&back=AA2")),
    )
    assert steps[0]["save"] == {"id": {"json": "$.legs[0].seat.id"}, "id_2": {"json": "$.legs[1].seat.id"}}
    assert steps[1]["form"] == {"there": "${id}", "back": "${id_2}"}


def test_as_much_of_the_text_around_a_value_is_taken_as_tells_it_from_others(tmp_path: Path) -> None:
    around = "is the number of your order, as we have it: "
    _, steps = made(
        tmp_path,
        entry(0, f"{SHOP}/", f"<p>the first {around}<b>or-1111</b>, the second {around}<b>or-2222</b>"),
        entry(1, f"{SHOP}/cancel", method="POST", sent=form("number=or-2222")),
    )
    assert steps[1]["form"] == {"number": "${number}"}
    (save,) = steps[0]["save"].values()
    match = re.search(save["regex"], f"first {around}<b>or-3</b>, the second {around}<b>or-4</b>")
    assert match is not None
    assert match[1] == "or-4"


def test_an_id_that_no_answer_has_is_told(tmp_path: Path) -> None:
    text, _ = made(
        tmp_path,
        entry(0, f"{SHOP}/", "<p>"),
        entry(1, f"{SHOP}/cancel", method="POST", sent=form("bookingId=b-4711-x&when=2026-11-26")),
    )
    assert "# guessed: no answer has bookingId, which may be a token" in text
    assert "no answer has when" not in text


UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.mark.parametrize(
    ("name", "operations"),
    [
        (
            "acmeair",
            [
                *(
                    "index",
                    "bench-info",
                    "post-api-login",
                    "post-flights-queryflights",
                    "post-bookings-bookflights",
                ),
                *("bookings-byuser", "post-bookings-cancelbooking", "bookings-byuser", "customer-byid"),
                *("post-customer-byid", "customer-byid", "login-logout"),
            ],
        ),
        (
            "daytrader7",
            [
                *(
                    "daytrader-welcome",
                    "post-daytrader-app-login",
                    "daytrader-app-quotes",
                    "daytrader-app-buy",
                ),
                *("daytrader-app-portfolio", "daytrader-app-sell", "daytrader-app-account"),
                "daytrader-app-logout",
            ],
        ),
    ],
)
def test_what_chromium_recorded_of_our_own_pages(name: str, operations: list[str], tmp_path: Path) -> None:
    """Played against the servers by tests/e2e/test_applications.py."""
    recording = json.loads((RECORDINGS / f"{name}.har").read_text(encoding="utf-8"))
    text, steps = made(tmp_path, *recording["log"]["entries"])
    assert [step["operation"] for step in steps] == operations
    assert "left out, of other hosts" not in text
    assert "no answer has" not in text
    assert not UUID.search(text), "what the server made is taken from its answers"


def test_a_link_with_an_id_is_followed_as_the_page_has_it(tmp_path: Path) -> None:
    page = '<a href="app?action=sell&amp;holdingID=17">sell</a><a href="app?action=sell&amp;holdingID=18">sell</a>'
    text, steps = made(
        tmp_path,
        entry(0, f"{SHOP}/app?action=portfolio", page),
        entry(1, f"{SHOP}/app?action=sell&holdingID=18", "<a href='app?page=2'>"),
        entry(2, f"{SHOP}/app?page=2", "<p>"),
    )
    link = {"css": 'a[href^="app?action=sell&holdingID="]', "attribute": "href"}
    assert steps[0]["save"] == {"holding_id_link": link}
    assert [step["path"] for step in steps[1:]] == ["${holding_id_link}", "/app?page=2"]
    assert [step["operation"] for step in steps] == ["app-portfolio", "app-sell", "app"]
    assert "# guessed: holding_id_link: one of several links: which one?" in text


def test_of_forms_that_look_alike_the_one_that_was_sent_is_told(tmp_path: Path) -> None:
    forms = [f'<form action="app"><input name={name} value={name}></form>' for name in ("a", "b", "b")]
    _, steps = made(
        tmp_path, entry(0, f"{SHOP}/page", "".join(forms)), entry(1, f"{SHOP}/app?b=changed", "<p>")
    )
    assert steps[1]["submit"] == {"form": 'form[action="app"]:eq(1)', "fields": {"b": "changed"}}
