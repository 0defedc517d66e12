# SPDX-License-Identifier: Apache-2.0
"""What the server of all sessions answers, and to whom; what it refuses."""

import http.client
import os
import socket
import webbrowser
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sample
from commands import run_command
from fake_site import serving
from kept_sessions import HOSTILE, make_session_of, write_ended, write_history, write_running, write_session
from sample_gate import write_gate

from steelyard.cli.serve import show
from steelyard.errors import Exit, PortInUse
from steelyard.host.lock import running_session
from steelyard.serve.server import LOOPBACK, Server, is_local
from steelyard.serve.site import Answer, Site, is_name, read_file

SMALL = replace(sample.two_arm_plan(), blocks=2)
NOW = 1_800_000_000.0
SECRET = "nobody may read this"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sessions that may be compared, one of another question, one that runs; a history beside them."""
    top = tmp_path_factory.mktemp("serve")
    (top / "secret.json").write_text(SECRET, encoding="utf-8")
    results = top / "results"
    for number in (0, 1):
        write_ended(results, number, plan=replace(SMALL, title=HOSTILE, seed=number), report=number == 0)
    write_ended(results, 2, plan=replace(SMALL, name="other", question="Another?"), report=False)
    write_running(results, 3, NOW)
    write_history(top / "history")
    return results


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    site = Site(folder, folder.parent / "history", now=lambda: NOW)
    crashes = folder.parent / "crashes"
    with running_session(folder / "jvm-count-400"), serving(Server(site, 0, crashes=crashes)) as made:
        yield made
    assert not (folder.parent / "crashes").exists()


class Got:
    """An answer."""

    def __init__(self, server: Server, path: str, method: str = "GET", host: str | None = None) -> None:
        port = server.server_address[1]
        connection = http.client.HTTPConnection(LOOPBACK, int(port))
        connection.putrequest(method, path, skip_host=True)
        connection.putheader("Host", host or f"127.0.0.1:{port}")
        connection.endheaders()
        answer = connection.getresponse()
        self.code, self.headers = answer.status, answer.headers
        self.text = answer.read().decode()
        connection.close()


def test_the_list_has_every_session_and_nothing_of_it_is_markup(server: Server) -> None:
    page = Got(server, "/")
    assert page.code == 200
    assert "4 of 4 sessions" in page.text
    assert "Running now" in page.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; \\x1b[31m&amp; more" in page.text
    assert "<script>alert" not in page.text
    assert "1 of 4 sessions" in Got(server, "/?text=other&host=bench-a").text
    assert "No session is so" in Got(server, "/?commit=%3Cscript%3E").text


def test_pages_run_their_own_script_alone_and_files_reach_nothing(server: Server) -> None:
    own = Got(server, "/").headers["Content-Security-Policy"]
    assert "default-src 'none'" in own
    assert "script-src 'self';" in own
    report = Got(server, "/sessions/pages-000/report.html")
    policy = report.headers["Content-Security-Policy"]
    assert "connect-src" not in policy
    assert "sandbox allow-scripts" in policy
    assert "allow-same-origin" not in policy
    assert report.headers["X-Content-Type-Options"] == "nosniff"
    assert "All sessions</a>" in report.text


def test_a_session_opens_as_its_report_or_as_it_runs(server: Server) -> None:
    assert Got(server, "/sessions/pages-000/").headers["Location"] == "/sessions/pages-000/report.html"
    assert Got(server, "/sessions/jvm-count-400/").headers["Location"] == "/sessions/jvm-count-400/live"
    page = Got(server, "/sessions/jvm-count-400/live")
    assert "measuring, 40 s of 1 min" in page.text
    part = Got(server, "/sessions/jvm-count-400/live-part")
    assert part.headers["X-Steelyard-Live"] == "yes"
    assert part.text in page.text
    ended = Got(server, "/sessions/pages-001/live")
    assert "All trials are done" in ended.text
    assert Got(server, "/sessions/pages-001/session.json").headers["Content-Type"] == "application/json"


def test_only_the_session_that_runs_is_shown_as_running(tmp_path: Path) -> None:
    """One that was killed is not, whatever else runs on its host; a gate's confirmation is."""
    killed = write_running(tmp_path, 3, NOW)
    gate, _ = write_gate(tmp_path, 0.9)
    (tmp_path / "elsewhere").mkdir()
    second = write_running(tmp_path / "elsewhere", 3, NOW).path.rename(gate.path / "confirmation")
    name = f"{gate.path.name}/confirmation"
    site = Site(tmp_path, now=lambda: NOW)

    def live_part(folder: str) -> Answer:
        return site.answer(f"/sessions/{folder}/live-part", {})

    with running_session(second):
        assert f'class="now" href="/sessions/{name}/live"' in site.answer("/", {}).body.decode()
        assert site.answer(f"/sessions/{name}/", {}).more == {"Location": f"/sessions/{name}/live"}
        assert live_part(name).more == {"X-Steelyard-Live": "yes"}
        assert live_part(killed.path.name).more == {"X-Steelyard-Live": "no"}
        assert b"its process was killed" in live_part(killed.path.name).body
    assert b"Running now" not in site.answer("/", {}).body
    assert site.answer(f"/sessions/{name}/session.json", {}).status == 200


def test_repeats_count_among_the_trials_to_come(tmp_path: Path) -> None:
    session, trials = make_session_of(SMALL, 400, 2, "9a8b7c6")
    trials[-1] = trials[-1].model_copy(update={"state": "void"})
    path = write_session(tmp_path, session, trials).path
    with running_session(path):
        page = Site(tmp_path, now=lambda: NOW).answer("/", {}).body.decode()
    assert len(session.schedule) == 4
    assert '<progress max="5" value="4"></progress>\n<span>4 of 5 trials</span>' in page


def test_two_sessions_of_one_question_are_compared_and_others_not(server: Server) -> None:
    page = Got(server, "/compare?session=pages-001&session=pages-000")
    assert "Effects side by side" in page.text
    assert page.text.index("pages-000") < page.text.index("pages-001")
    other = Got(server, "/compare?session=pages-000&session=other-002")
    assert "the experiment: pages and other" in other.text
    one = Got(server, "/compare?session=pages-000&session=gone")
    assert (one.code, "Choose two" in one.text) == (400, True)


def test_the_history_has_its_change(server: Server) -> None:
    page = Got(server, "/history")
    assert "1 change for the worse" in page.text
    assert "is worse from gate-018 on" in page.text


@pytest.mark.parametrize(
    "path",
    [
        "/sessions/pages-000/../../secret.json",
        "/sessions/pages-000/%2e%2e/%2e%2e/secret.json",
        "/sessions/pages-000/profiles/..%2f..%2f..%2fsecret.json",
        "/sessions/..%2f..%2f/secret.json",
        "/sessions//secret.json",
        "/sessions/pages-000/profiles/.hidden",
        "/sessions/pages-000/profiles/a%00b",
        "/sessions/pages-000/crash-1.txt",
        "/nothing",
        "//elsewhere.example/",
    ],
)
def test_nothing_else_is_shown(server: Server, path: str) -> None:
    answer = Got(server, path)
    assert answer.code in (400, 404)
    assert SECRET not in answer.text


def test_links_and_what_is_no_file_are_not_followed(folder: Path) -> None:
    session = folder / "pages-001"
    (session / "profiles").mkdir()
    (session / "profiles" / "away.json").symlink_to(folder.parent / "secret.json")
    (session / "profiles" / "inside.json").symlink_to(session / "session.json")
    os.mkfifo(session / "profiles" / "pipe.txt")
    assert read_file(session, ["profiles", "away.json"]) is None
    assert read_file(session, ["profiles", "pipe.txt"]) is None
    assert read_file(session, ["profiles"]) is None
    assert read_file(session, ["profiles", "inside.json"]) == (session / "session.json").read_bytes()


@pytest.mark.parametrize("part", ["", ".", "..", ".x", "a/b", "a\\b", "a\0"])
def test_a_part_of_a_path_is_one_plain_name(part: str) -> None:
    assert not is_name(part)
    assert is_name(f"x{part.replace('/', '').replace(chr(92), '').replace(chr(0), '')}")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8470", "[::1]:1", "LOCALHOST"])
def test_this_machine_may_ask(host: str) -> None:
    assert is_local([host])


@pytest.mark.parametrize(
    "hosts", [["evil.example"], ["127.0.0.1.evil.example"], ["localhost:x"], [], ["localhost", "localhost"]]
)
def test_nobody_else_may_ask(server: Server, hosts: list[str]) -> None:
    assert not is_local(hosts)
    if len(hosts) == 1:
        answer = Got(server, "/", host=hosts[0])
        assert (answer.code, "4 of 4" in answer.text) == (421, False)


def test_it_is_read_only(server: Server) -> None:
    assert Got(server, "/", method="POST").code == 501
    head = Got(server, "/", method="HEAD")
    assert (head.code, head.text) == (200, "")


def test_a_taken_port_and_a_folder_that_is_not_there_are_told(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortInUse, match="choose another --port"):
            Server(Site(folder), port)
    gone = run_command(capsys, "serve", "--out", str(tmp_path / "gone"))
    assert gone.code == Exit.BAD_INPUT
    assert "is no folder: give one with --out, or run a session first" in gone.err
    assert gone.err.count("\n") == 1
    history = run_command(capsys, "serve", "--out", str(tmp_path), "--history", str(tmp_path / "gone"))
    assert "give one with --history" in history.err


def test_the_browser_is_asked_to_open_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program, seen = tmp_path / "browser", tmp_path / "seen"
    program.write_text(f'#!/bin/sh\nprintf %s "$1" >{seen}\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(webbrowser, "_tryorder", ["ours"])
    monkeypatch.setattr(
        webbrowser, "_browsers", {"ours": [None, webbrowser.GenericBrowser([str(program), "%s"])]}
    )
    show("http://127.0.0.1:1/")
    assert seen.read_text(encoding="utf-8") == "http://127.0.0.1:1/"
    monkeypatch.setattr(webbrowser, "_tryorder", [])
    show("http://127.0.0.1:1/")
    assert "no browser could be started here: open http://127.0.0.1:1/" in capsys.readouterr().err
