# SPDX-License-Identifier: Apache-2.0
"""Setting of host states with restore, in one process; what happens when it is killed is in test_killed.py."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from trees import CPU, PAGES, THP, Clocks, Kernel, put, x86_smt2

from steelyard.errors import BadInput, Busy, MissingRequirement
from steelyard.host.doctor import host_states
from steelyard.host.power import GOVERNOR
from steelyard.host.switching import RECORD, HostStates, put_back, read_record
from steelyard.paths import ROOT
from steelyard.processes import Children
from steelyard.results.store import write_atomic
from steelyard.sampling.procfs import boot_id

NEVER, ALWAYS = {"thp": "never"}, {"thp": "always"}


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return Kernel(tmp_path)


def dead_record(kernel: Kernel, original: dict[str, str], **more: object) -> None:
    """The record of a process that is gone."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    record = {
        "session": "results/old",
        "pid": gone.pid,
        "started": 1,
        "boot": boot_id(),
        "original": original,
    }
    put(kernel.root, RECORD, json.dumps({**record, **more}))


def test_a_record_is_written_by_its_handle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who owns the folder may put a link in the place of a file that is being written."""
    put(tmp_path, "secret", "root's own")
    secret = tmp_path / "secret"
    secret.chmod(0o600)
    folder = tmp_path / "records"

    def meanwhile(_descriptor: int) -> None:
        (temporary,) = folder.iterdir()
        temporary.unlink()
        temporary.symlink_to(secret)

    monkeypatch.setattr(os, "fsync", meanwhile)
    write_atomic(folder / "record.json", "{}")
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


@pytest.mark.parametrize("strange", ["owner", "mode", "link"])
def test_root_follows_no_record_that_another_user_may_have_written(
    kernel: Kernel, children: Children, monkeypatch: pytest.MonkeyPatch, strange: str
) -> None:
    dead_record(kernel, {"thp": "never"})
    assert read_record(kernel) is not None
    folder = kernel.path(RECORD).parent
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    if strange == "owner":
        if owner == 0:
            os.chown(folder, 65534, -1)
    elif strange == "mode":
        folder.chmod(0o775)
    else:
        folder.rename(kernel.path("elsewhere"))
        folder.symlink_to(kernel.path("elsewhere"))
    for follow in (read_record, put_back):
        with pytest.raises(
            MissingRequirement, match=r"root follows no record .* which another user may write"
        ):
            follow(kernel)
    with pytest.raises(MissingRequirement, match="root follows no record"):
        HostStates([ALWAYS], children, "s", kernel)
    assert kernel.choice(THP) == "madvise"
    assert kernel.writes == []


def test_what_was_there_is_recorded_before_anything_changes(kernel: Kernel, children: Children) -> None:
    found = []

    class Watched(Kernel):
        def write(self, name: str, text: str) -> None:
            found.append(read_record(self))
            super().write(name, text)

    kernel = Watched(kernel.root)
    with HostStates([NEVER, {"thp": "always", "huge_pages": 4}], children, "results/s", kernel) as states:
        assert read_record(kernel) is None
        states.enter((1, 1), NEVER)
    assert found[0] is not None
    assert found[0].original == {"thp": "madvise", "huge_pages": "0"}
    assert (found[0].session, found[0].pid, found[0].alive()) == ("results/s", os.getpid(), True)


def test_the_host_is_as_before_at_the_end(kernel: Kernel, children: Children) -> None:
    plots = [NEVER, {"thp": "always", "huge_pages": "8m"}]
    with HostStates(plots, children, "s", kernel) as states:
        states.enter((1, 1), plots[1])
        assert (kernel.choice(THP), kernel.text(PAGES)) == ("always", "4")
        states.enter((1, 2), plots[0])
        assert (kernel.choice(THP), kernel.text(PAGES)) == ("never", "0")  # pages: as the host has them
    assert (kernel.choice(THP), kernel.text(PAGES)) == ("madvise", "0")
    assert not kernel.path(RECORD).exists()
    writes = list(kernel.writes)
    states.restore()
    assert kernel.writes == writes


def test_threads_and_governor_are_put_back_though_the_threads_come_back_with_another(
    tmp_path: Path, children: Children
) -> None:
    put(x86_smt2(tmp_path), f"{CPU}/present", "0-15")
    kernel = Clocks(tmp_path, "x86_64", [[core, core + 8] for core in range(8)], "on")
    plots = [{"smt": smt, "governor": "performance"} for smt in ("on", "off")]
    with HostStates(plots, children, "s", kernel) as states:
        for at, plot in enumerate(plots, 1):
            states.enter((1, at), plot)
            assert states.verify(plot) == []
    assert kernel.online() == set(range(16))
    assert {kernel.text(name) for name in GOVERNOR.files(kernel)} == {"powersave"}
    assert read_record(kernel) is None


def test_the_host_is_as_before_after_an_error(kernel: Kernel, children: Children) -> None:
    def session() -> None:
        with HostStates([NEVER, ALWAYS], children, "s", kernel) as states:
            states.enter((1, 1), NEVER)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session()
    assert kernel.choice(THP) == "madvise"


def test_every_plot_begins_with_a_switch(kernel: Kernel, children: Children) -> None:
    with HostStates([NEVER, ALWAYS], children, "s", kernel) as states:
        for plot, wanted in (((1, 1), ALWAYS), ((1, 2), NEVER), ((2, 1), NEVER), ((2, 2), ALWAYS)):
            states.enter(plot, wanted)
            states.enter(plot, wanted)  # each trial of the plot asks; the first one switches
    enabled = [write.removeprefix("enabled=") for write in kernel.writes]
    assert enabled == ["always", "never", "always", "never", "always", "madvise"]


def test_a_plot_that_wants_what_the_host_had_is_switched_to_as_well(
    kernel: Kernel, children: Children
) -> None:
    with HostStates([{"thp": "madvise"}, NEVER], children, "s", kernel) as states:
        states.enter((1, 1), {"thp": "madvise"})
        assert kernel.writes == ["enabled=never", "enabled=madvise"]


def test_each_state_that_varies_is_switched_and_no_other(kernel: Kernel, children: Children) -> None:
    plots = [{"thp": thp, "huge_pages": pages} for thp in ("always",) for pages in (0, 4)]
    with HostStates(plots, children, "s", kernel) as states:
        states.enter((1, 1), plots[1])
        states.enter((2, 1), plots[1])
        assert kernel.writes == ["enabled=always", "nr_hugepages=4", "nr_hugepages=0", "nr_hugepages=4"]


def test_a_session_that_wants_the_host_as_it_is_changes_nothing(kernel: Kernel, children: Children) -> None:
    for plots in ([], [{}], [{"thp": "madvise"}]):
        with HostStates(plots, children, "s", kernel) as states:
            states.enter((1, 0), plots[0] if plots else {})
            assert states.verify({}) == []
    assert kernel.writes == []
    assert not kernel.path(RECORD).exists()


def test_read_back_says_what_differs(kernel: Kernel, children: Children) -> None:
    plots = [{"thp": "never", "huge_pages": 4}, {}]
    with HostStates(plots, children, "s", kernel) as states:
        states.enter((1, 1), plots[0])
        assert states.verify(plots[0]) == []
        put(kernel.root, THP, "[always] madvise never")
        kernel.path(PAGES).unlink()
        assert states.verify(plots[0]) == [
            "host state thp reads back always, never was asked for",
            "host state huge_pages reads back nothing, 4 was asked for",
        ]
        put(kernel.root, PAGES, "4")
        assert len(states.verify({})) == 2  # an arm that names no state wants the host as it was


def test_values_are_equal_where_what_is_wanted_is(kernel: Kernel, children: Children) -> None:
    plots = [{"huge_pages": "8m", "thp": "always"}, {"thp": "always", "huge_pages": 4}, {"thp": "always"}]
    with HostStates(plots, children, "s", kernel) as states:
        values = [states.values(plot) for plot in plots]
    assert values == [{"thp": "always", "huge_pages": "4"}] * 2 + [{"thp": "always"}]


def test_a_state_that_cannot_be_set_fully_is_put_back(tmp_path: Path, children: Children) -> None:
    kernel = Kernel(tmp_path, room=100)
    plots = [{"thp": "never", "huge_pages": 512}, {}]
    with (
        pytest.raises(MissingRequirement, match="provided 100 of 512"),
        HostStates(plots, children, "s", kernel) as states,
    ):
        states.enter((1, 1), plots[0])
    assert (kernel.choice(THP), kernel.text(PAGES)) == ("madvise", "0")


@pytest.mark.parametrize("wanted", [{"pages": 1}, {"thp": "sometimes"}])
def test_wrong_states_are_refused_before_anything_happens(
    kernel: Kernel, children: Children, wanted: dict[str, str | int]
) -> None:
    with pytest.raises(BadInput):
        HostStates([wanted], children, "s", kernel)
    assert kernel.writes == []


def test_a_host_that_does_not_have_the_state_is_told_when_the_session_is_made(
    tmp_path: Path, children: Children
) -> None:
    kernel = Kernel(tmp_path)
    kernel.path(THP).unlink()
    with pytest.raises(MissingRequirement, match="has no thp to set"):
        HostStates([NEVER], children, "s", kernel)


def test_the_states_of_a_living_session_are_left_alone(kernel: Kernel, children: Children) -> None:
    with HostStates([NEVER, ALWAYS], children, "results/first", kernel) as first:
        first.enter((1, 1), NEVER)
        assert put_back(kernel) == []
        assert host_states(kernel).level == "info"
        second = HostStates([ALWAYS], children, "results/second", kernel)
        with pytest.raises(Busy, match="results/first"):
            second.enter((1, 1), ALWAYS)
        second.restore()
        assert kernel.choice(THP) == "never"


def test_the_next_session_puts_back_what_a_killed_one_left(kernel: Kernel) -> None:
    kernel.write(THP, "never")
    dead_record(kernel, {"thp": "madvise", "huge_pages": "0"})
    warning = host_states(kernel)
    assert warning.level == "warn"
    assert (
        warning.state
        == "left as results/old had set them when it was killed (before: thp madvise, huge_pages 0)"
    )
    assert warning.change is not None
    assert "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled" in warning.change
    assert put_back(kernel) == [
        "host state thp was left at never by results/old, which was killed, and is madvise again"
    ]
    assert put_back(kernel) == []
    assert kernel.choice(THP) == "madvise"
    assert host_states(kernel).level == "ok"


def test_a_process_with_a_recycled_id_is_not_the_session(kernel: Kernel) -> None:
    dead_record(kernel, {"thp": "madvise"}, pid=os.getpid())
    kernel.write(THP, "never")
    assert len(put_back(kernel)) == 1


def test_what_a_killed_session_had_set_is_never_taken_for_original(
    kernel: Kernel, children: Children
) -> None:
    """Even where nobody called `put_back`, and for a state that the new session does not name."""
    kernel.write(THP, "never")
    kernel.write(PAGES, "4")
    dead_record(kernel, {"thp": "madvise", "huge_pages": "1"})
    with HostStates([NEVER, ALWAYS], children, "s", kernel) as states:
        states.enter((1, 1), NEVER)
        assert kernel.text(PAGES) == "1"
    assert kernel.choice(THP) == "madvise"


def test_a_session_that_wants_what_a_killed_one_left_still_puts_back(
    kernel: Kernel, children: Children
) -> None:
    kernel.write(THP, "never")
    dead_record(kernel, {"thp": "madvise"})
    with HostStates([NEVER], children, "s", kernel) as states:
        states.enter((1, 0), NEVER)
        assert kernel.choice(THP) == "never"
    assert kernel.choice(THP) == "madvise"


def test_a_record_from_before_a_restart_of_the_host_is_void(kernel: Kernel, children: Children) -> None:
    dead_record(kernel, {"thp": "never"}, boot="another")
    assert (read_record(kernel), put_back(kernel), host_states(kernel).level) == (None, [], "ok")
    with HostStates([ALWAYS], children, "s", kernel) as states:
        states.enter((1, 0), ALWAYS)
    assert kernel.choice(THP) == "madvise"


def test_a_record_that_cannot_be_read_is_no_silence(kernel: Kernel) -> None:
    put(kernel.root, RECORD, "{")
    with pytest.raises(MissingRequirement, match="cannot be read"):
        put_back(kernel)
    assert host_states(kernel).level == "warn"


def test_what_cannot_be_put_back_stays_recorded(kernel: Kernel) -> None:
    kernel.write(THP, "never")
    dead_record(kernel, {"thp": "madvise", "huge_pages": "4", "of_a_newer_version": "1"})
    kernel.room = 1
    with pytest.raises(MissingRequirement, match="provided 1 of 4") as caught:
        put_back(kernel)
    assert "no host state 'of_a_newer_version'" in str(caught.value)
    assert kernel.choice(THP) == "madvise"  # what could be put back was
    assert read_record(kernel) is not None


@pytest.mark.alone
@pytest.mark.usefixtures("turn")
@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to give its rights up")
@pytest.mark.parametrize(
    "asked",
    [
        "states = HostStates([plot], Children(), 's')\nassert states.values(plot) == plot\n",
        # Before anything is built for the session, too.
        "",
    ],
)
def test_without_rights_nothing_is_touched_and_one_sentence_says_what_to_do(asked: str) -> None:
    program = (
        "import os\n"
        "from steelyard.errors import MissingRequirement\nfrom steelyard.host.states import STATES\n"
        "from steelyard.host.switching import HostStates, require_settable\nfrom steelyard.host.system import System\n"
        "from steelyard.processes import Children\n"
        "os.setgroups([])\nos.setgid(65534)\nos.setuid(65534)\n"
        "other = 'never' if STATES['thp'].read(System()) != 'never' else 'always'\n"
        "plot = {'thp': other}\n"
        "require_settable([{'thp': STATES['thp'].read(System())}])\n"
        f"{asked}"
        f"try:\n    {'states.__enter__()' if asked else 'require_settable([plot])'}\n"
        "except MissingRequirement as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT / "scripts", capture_output=True, text=True, check=False
    )
    sentence = (
        "thp of this host cannot be set (no permission to write it): run it as root (sudo) or let this user set"
        " just that (docs/host-states.md), in a container also with --privileged, or leave thp out of the experiment\n"
    )
    assert (done.stdout, done.stderr) == (sentence, "")
