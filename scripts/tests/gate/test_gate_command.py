# SPDX-License-Identifier: Apache-2.0
"""Gates and certificates as commands, on the fake engine: their sessions, verdicts, exit codes, and what is refused."""

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from commands import Result, run_command
from fake_clock import FakeClock
from fake_engine import World
from one_host import facts_at_first
from sessions import Bench

from steelyard.build import GitFailed
from steelyard.cli import gate as gate_module
from steelyard.clock import SYSTEM
from steelyard.errors import BadInput, Exit
from steelyard.gate import elsewhere, sides
from steelyard.gate import plan as gate_plan
from steelyard.host.doctor import Activity
from steelyard.paths import ROOT
from steelyard.results.figures import percent
from steelyard.results.gate import GateResult
from steelyard.results.schema import Phase, Planned
from steelyard.results.store import SessionDirectory, read_record
from steelyard.session import opening
from steelyard.session.plan import RunRequest

WINDOWS = [
    *("--set", "ramp=1", "--set", "warmup=2s", "--set", "measure=4s", "--set", "users=8"),
    *("--set", "total_heap=64m"),  # what the engine's servers tell that they have
]
CANDIDATE = "threads=7"


class Commands:
    """The command line over the bench's world: `effect` is how much faster a candidate is."""

    made: ClassVar[dict[str, str]] = {}
    """The certificate that most tests need, by its file's name: its session is run once."""

    def __init__(self, bench: Bench, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.bench, self.folder, self._capsys = bench, folder, capsys
        self.effect, self.noise, self.busy = 0.0, 0.004, 0.0
        self.interrupt: Callable[[Planned, Phase], bool] | None = None
        bench.world.throughput = self._throughput

    def move_the_clock(self) -> None:
        """By three seconds in each measurement."""

        def step(_planned: Planned, phase: Phase) -> bool:
            if phase == "measure":
                self.bench.world.clock.step(3.0)
            return False

        self.interrupt = step

    def _throughput(self, spec: Any) -> float:
        gain = self.effect if "7" in spec.servers[0].environment.values() else 0.0
        return 200 * (1 + gain) * self.bench.world.start_level(11, self.noise)

    def run(self, *arguments: str) -> Result:
        return run_command(self._capsys, *arguments)

    def certify(self, *more: str) -> Result:
        common = ["--out", str(self.folder), "--port", str(self.bench.port), "--seed", "3", "--json"]
        made = self.run("certify", *common, *WINDOWS, "--set", "threads=6", *more)
        assert made.code == 0, made.err
        return made

    def certified(self) -> None:
        """Have the certificate of a calm host."""
        if not self.made:
            document = self.certify().document
            path = Path(document["certificate"])
            self.made[path.name] = path.read_text(encoding="utf-8")
        for name, text in self.made.items():
            (self.folder / "certificates").mkdir(exist_ok=True)
            (self.folder / "certificates" / name).write_text(text, encoding="utf-8")

    def gate(self, *more: str, candidate: str = CANDIDATE) -> Result:
        common = ["--out", str(self.folder), "--port", str(self.bench.port), "--seed", "5", "--json"]
        sides = ["--baseline", "threads=6", "--candidate", candidate, "--metric", "throughput"]
        return self.run("gate", *common, *WINDOWS, "--set", "threads=6", *sides, *more)


@pytest.fixture
def world() -> Iterator[World]:
    """Its time begins now, by which commands say whether a certificate has expired. Servers are up at once."""
    made = World(FakeClock(math.floor(SYSTEM.time()) + 0.25), ready_after=0.1)
    yield made
    for deployment in made.deployments:
        deployment.close()


@pytest.fixture
def commands(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Commands:
    bench = Bench(tmp_path, world)
    made = Commands(bench, tmp_path, capsys)
    bench.take_commands(monkeypatch, lambda: {"interrupt": made.interrupt} if made.interrupt else {})

    def report_again(directory: SessionDirectory) -> list[Path]:
        page = directory.path / "report.html"
        page.write_text(f"verdict there: {(directory.path / 'gate.json').exists()}", encoding="utf-8")
        return [page]

    monkeypatch.setattr(gate_module, "write_report", report_again)
    monkeypatch.setattr(gate_plan, "watch", lambda _: Activity(made.busy, 0.0, ()))
    return made


def test_a_gate_hands_on_what_profiles_and_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing runs here: the plan is refused as soon as it is asked for."""
    requests: list[RunRequest] = []

    def plan_gate(request: RunRequest, *_: object) -> None:
        requests.append(request)
        raise BadInput("seen")

    monkeypatch.setattr(gate_module, "plan_gate", plan_gate)
    options = ["--profile", "cpu", "--profile", "lock", "--profile-starts", "4", "--counters", "all"]
    refused = run_command(capsys, "gate", "--baseline", "a", "--candidate", "b", *options)
    assert refused.code == Exit.BAD_INPUT
    (request,) = requests
    assert (request.profilers, request.profile_starts, request.counters) == (["cpu", "lock"], 4, ["all"])


def test_certificate_then_pass_then_regression(commands: Commands) -> None:
    made = commands.certify("--blocks", "10")
    assert made.code == 0, made.err
    noise = {one["metric"]: one for one in made.document["noise"]}
    assert noise["throughput"]["start_sd"] == pytest.approx(0.004, rel=0.5)
    assert made.document["windows"]["per_start"] == 2

    # What time there is, it uses up; six pairs were all that it had here.
    passed = commands.gate("--time", f"{9 * made.document['pair_seconds']:.0f}s")
    assert passed.code == Exit.OK, passed.err + passed.out
    assert passed.document["outcome"] == "pass"
    floor = percent(noise["throughput"]["floors"]["8"])
    assert re.search(
        rf"margin 3.0 %: 8 pairs of .*, as many as .* hold; it finds harm of {floor} or", passed.err
    )
    folder = Path(passed.document["directory"])
    session, trials = SessionDirectory(folder).session(), SessionDirectory(folder).trials()
    assert session.gate is not None
    assert session.gate.certificate == Path(made.document["certificate"]).name
    assert len(trials) == 16
    assert "./steelyard gate --out" in session.command
    assert "--baseline threads=6 --candidate threads=7" in session.command
    assert not (folder / "confirmation").exists()
    assert (folder / "gate.junit.xml").exists()
    assert (folder / "report.html").read_text(encoding="utf-8") == "verdict there: True"
    uncertified = commands.run("certify", "--session", str(folder), "--out", str(commands.folder))
    assert uncertified.code == Exit.BAD_INPUT
    assert "has arms that differ" in uncertified.err

    commands.effect = -0.08
    called = commands.gate()
    assert called.code == Exit.REGRESSION, called.err + called.out
    assert "and again in a second session" in called.document["sentence"]
    first = SessionDirectory(Path(called.document["directory"]))
    second = SessionDirectory(first.path / "confirmation")
    assert second.session().gate is not None
    assert second.session().gate.confirms == first.session().id  # type: ignore[union-attr]
    assert [p.arm for p in second.session().schedule] != [p.arm for p in first.session().schedule]
    assert len(second.trials()) == 12


def test_a_regression_is_confirmed_on_another_host(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands.certified()
    commands.effect = -0.08
    left = commands.gate("--leave-confirmation")
    assert left.code == Exit.INCONCLUSIVE, left.err
    assert "left to another host" in left.document["sentence"]
    assert "gate --confirms" in left.document["notes"][-1]
    folder = Path(left.document["directory"])
    assert not (folder / "confirmation").exists()

    facts = facts_at_first().model_copy(update={"hostname": "another"})
    for module in (gate_plan, opening, elsewhere):
        monkeypatch.setattr(module, "read_facts", lambda: facts)
    confirms = ("--confirms", str(folder))
    other = commands.gate(*confirms, "--set", "users=9")
    assert other.code == Exit.BAD_INPUT
    assert "more than the host differs: the load" in other.err
    abstains = commands.gate(*confirms)
    assert abstains.code == Exit.INCONCLUSIVE
    assert "nothing confirmed it: no noise certificate" in abstains.document["sentence"]

    commands.certify()
    confirmed = commands.gate(*confirms)
    assert confirmed.code == Exit.REGRESSION, confirmed.err
    assert "in a second session on another host" in confirmed.document["sentence"]
    assert any("ran on another, by the certificate" in note for note in confirmed.document["notes"])
    first, second = (SessionDirectory(path).session() for path in (folder, folder / "confirmation"))
    assert second.host.hostname == "another"
    assert first.host.hostname != "another"
    assert second.gate is not None
    assert second.gate.confirms == first.id
    assert [p.arm for p in second.schedule] != [p.arm for p in first.schedule]
    # What has been confirmed is told again, wherever it is asked.
    assert commands.run("resume", str(folder), "--json").code == Exit.REGRESSION


def test_there_is_nothing_to_confirm_of_a_pass(commands: Commands) -> None:
    commands.certified()
    passed = commands.gate("--leave-confirmation")
    again = commands.gate("--confirms", passed.document["directory"])
    assert (passed.code, again.code) == (Exit.OK, Exit.OK)
    assert again.document["sentence"] == passed.document["sentence"]


@pytest.fixture
def _asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is trusted beforehand."""
    monkeypatch.delenv("STEELYARD_TRUST")


@pytest.mark.usefixtures("_asks")
def test_an_interrupted_gate_goes_on_to_its_verdict(commands: Commands) -> None:
    """Its sessions, which were begun here, are resumed without a question."""
    commands.certified()
    commands.effect = -0.08
    commands.interrupt = lambda planned, phase: (planned.order, phase) == (5, "measure")
    stopped = commands.gate()
    assert stopped.code == Exit.INTERRUPTED
    commands.interrupt = None
    (folder,) = (path.parent for path in commands.folder.glob("gate-*/session.json") if _is_gate(path.parent))
    before = [one.order for one in SessionDirectory(folder).trials()]
    assert 0 < len(before) < 12
    assert f"Go on with: ./steelyard resume {folder}\n" in stopped.err
    # In its second session, which is resumed with the gate.
    commands.interrupt = lambda planned, phase: (
        (planned.order, phase) == (3, "measure") and (folder / "confirmation").exists()
    )
    stopped = commands.run("resume", str(folder), "--json")
    assert stopped.code == Exit.INTERRUPTED
    assert len(SessionDirectory(folder).trials()) == 12
    assert f"Go on with: ./steelyard resume {folder}\n" in stopped.err
    commands.interrupt = None
    ended = commands.run("resume", str(folder / "confirmation"), "--json")
    assert ended.code == Exit.REGRESSION, ended.err
    again = commands.run("resume", str(folder), "--json")
    assert again.document == ended.document
    result = read_record(folder / "gate.json", GateResult)
    assert result.outcome == "regression"


@pytest.mark.usefixtures("_asks")
def test_an_interrupted_certification_goes_on_to_its_certificate(commands: Commands) -> None:
    commands.interrupt = lambda planned, phase: (planned.order, phase) == (5, "measure")
    kept = ["--certificates", str(commands.folder / "kept"), "--days", "2", "--pool", "alike"]
    words = ["--out", str(commands.folder), "--port", str(commands.bench.port), *WINDOWS, *kept]
    assert commands.run("certify", "--blocks", "6", *words).code == Exit.INTERRUPTED
    commands.interrupt = None
    (folder,) = commands.folder.glob("gate-*")
    made = commands.run("resume", str(folder), "--json")
    assert made.code == 0, made.err
    assert made.document["pool"] == "alike"
    assert made.document["expires"] - made.document["made"] == pytest.approx(2 * 86400)
    assert Path(made.document["certificate"]).parent == commands.folder / "kept"
    assert len(SessionDirectory(folder).trials()) == 12
    assert commands.run("resume", str(folder), "--json").document == made.document


def _is_gate(folder: Path) -> bool:
    return SessionDirectory(folder).session().gate is not None


def test_abstains_without_a_certificate_or_with_one_that_cannot_see_the_margin(commands: Commands) -> None:
    missing = commands.gate()
    assert missing.code == Exit.INCONCLUSIVE
    assert "no noise certificate says what this host can see" in missing.document["sentence"]
    assert missing.document["trials"] == 0
    commands.noise = 0.03
    commands.certify("--blocks", "6")
    noisy = commands.gate()
    assert noisy.code == Exit.INCONCLUSIVE
    assert "by its noise certificate, and the margin is 3.0 %" in noisy.document["sentence"]
    other = commands.gate("--set", "users=9")
    assert "it is of another load" in other.document["sentence"]


def test_abstains_on_a_busy_host(commands: Commands) -> None:
    commands.certified()
    commands.busy = 0.3
    busy = commands.gate()
    assert busy.code == Exit.INCONCLUSIVE
    assert "other processes use 30 % of the CPU time" in busy.document["sentence"]
    assert busy.document["trials"] == 0


def test_a_candidate_that_does_not_start_is_no_verdict(commands: Commands) -> None:
    commands.certified()
    commands.bench.world.deaths = {f"{block:02}-side-candidate": ("server-1", 0.0) for block in range(1, 7)}
    result = commands.gate()
    assert result.code == Exit.SERVER_FAILED, result.out
    assert "2 trials of side-candidate in a row did not start: server-1 ended with exit code 1" in result.err
    assert not list(commands.folder.glob("gate-*/gate.json"))


def test_a_host_that_voids_every_pair_leaves_certify_incomplete_and_says_why(commands: Commands) -> None:
    commands.move_the_clock()
    common = ["--out", str(commands.folder), "--port", str(commands.bench.port)]
    result = commands.run("certify", "--blocks", "6", *common, *WINDOWS)
    (session,) = commands.folder.glob("gate-*")
    again = commands.run("certify", "--session", str(session), *common)
    for one in (result, again):
        assert one.code == Exit.INCOMPLETE, one.err
        assert "has fewer than 6 pairs with cpu_per_1k" in one.err
        assert "by the check clock-step: The wall clock moved by +3.000 s" in one.err
    assert not (commands.folder / "certificates").exists()


def test_a_candidate_that_fails_its_contract_is_no_pass(commands: Commands) -> None:
    """However fast it is: another application than was asked for answers."""
    commands.certified()
    commands.effect = 0.2
    world = commands.bench.world

    def swap(planned: Planned, _: Phase) -> bool:
        world.info = {"build": "another"} if planned.arm == "side-candidate" else {}
        return False

    commands.interrupt = swap
    result = commands.gate()
    assert result.code == Exit.INCONCLUSIVE, result.err
    assert "trials of side-candidate are void, and 0 of" in result.document["sentence"]
    assert "reports build 'another'" in result.document["sentence"]


def test_two_names_of_the_same_are_a_pass_without_a_trial(commands: Commands) -> None:
    same = commands.gate(candidate="threads=6,cores=all")
    assert same.code == Exit.OK
    assert "both sides are the same" in same.document["sentence"]
    assert same.document["trials"] == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--candidate", "threads=6"], "are both 'threads=6'"),
        (["--candidate", "no-such-thing"], "is neither a commit"),
        (["--candidate", "threds=7"], "'threds' is not a setting"),
        (["--candidate", "threads=many"], "threads=many"),
        (["--candidate", "gone.yaml"], "gone.yaml"),
        (["--margin", "300%"], "--margin 300%"),
        (["--margin", "0"], "--margin 0 makes no sense"),
        (["--metric", "speed"], "cannot decide by 'speed'"),
        (["--metric", "service_calls_per_1k"], "cannot decide by 'service_calls_per_1k'"),
        (["--time", "1m"], "6 pairs, the fewest that show anything"),
        (["--time", "soon"], "--time soon"),
        (["--workload", "pong"], "unknown workload 'pong'"),
    ],
)
def test_bad_input_is_one_sentence(commands: Commands, arguments: list[str], says: str) -> None:
    result = commands.gate(*arguments)
    assert result.code == Exit.BAD_INPUT, result.out
    assert says in result.err
    assert len(result.err.splitlines()) == 1
    assert not list(commands.folder.glob("gate-*"))


def test_one_side_alone_is_no_gate(commands: Commands) -> None:
    result = commands.run("gate", "--baseline", "HEAD")
    assert (result.code, "give --candidate" in result.err) == (Exit.BAD_INPUT, True)


def test_a_certificate_is_made_again_from_its_session(commands: Commands) -> None:
    made = commands.certify("--blocks", "6", "--days", "2")
    assert made.document["expires"] - made.document["made"] == pytest.approx(2 * 86400)
    session = commands.folder / made.document["session"]
    words = ("certify", "--session", str(session), "--out", str(commands.folder), "--days", "2")
    assert commands.run(*words, "--json").document == made.document
    printed = commands.run(*words)
    assert printed.code == Exit.OK, printed.err
    assert "CPU of the servers per 1,000 requests varies by " in printed.out.replace("\n", " ")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("workload: ping", "workload: acmeair"), "two workloads are not compared"),
        (("workload: ping", "workload: OLDER"), "is about ping 0.9, the gate's experiment about ping 1."),
        (("users: 24", "users: 23"), "has another procedure or load"),
    ],
)
def test_experiment_files_have_to_ask_the_same(
    commands: Commands, tmp_path: Path, change: tuple[str, str], says: str
) -> None:
    text = (ROOT / "experiments" / "gate.yaml").read_text(encoding="utf-8")
    assert change[0] in text
    older = tmp_path / "workload.yaml"
    workload = (ROOT / "apps" / "ping" / "workload.yaml").read_text(encoding="utf-8")
    older.write_text(re.sub(r'version: ".*"', 'version: "0.9"', workload), encoding="utf-8")
    text = text.replace(*change).replace("OLDER", str(older))
    (tmp_path / "other.yaml").write_text(text, encoding="utf-8")
    result = commands.run(
        "gate", "--baseline", "checkout", "--candidate", str(tmp_path / "other.yaml"), "--out", str(tmp_path)
    )
    assert result.code == Exit.BAD_INPUT
    assert says in result.err


def test_a_commit_with_another_version_of_the_workload_is_refused(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(_root: Path, what: str, *more: str) -> str:
        if what != "show":
            return "0" * 40
        if more[0].startswith("v0"):
            raise GitFailed(["show"], "path does not exist in it", "")
        text = (ROOT / "apps" / "ping" / "workload.yaml").read_text(encoding="utf-8")
        return re.sub(r'version: ".*"', 'version: "0.9"', text)

    monkeypatch.setattr(sides, "git", git)
    older = commands.gate(candidate="v1")
    assert older.code == Exit.BAD_INPUT, older.out
    assert "v1 has ping 0.9, and this checkout ping " in older.err
    missing = commands.gate(candidate="v0")
    assert missing.code == Exit.BAD_INPUT, missing.out
    assert "v0 has no workload ping" in missing.err


def test_an_experiment_file_is_a_side(commands: Commands, tmp_path: Path) -> None:
    text = (ROOT / "experiments" / "gate.yaml").read_text(encoding="utf-8")
    (tmp_path / "big.yaml").write_text(text.replace("512m", "640m"), encoding="utf-8")
    ended = commands.run(
        *("gate", "--baseline", "checkout", "--candidate", str(tmp_path / "big.yaml"), "--json"),
        *("--out", str(tmp_path), "--port", str(commands.bench.port)),
    )
    assert ended.code == Exit.INCONCLUSIVE, ended.err  # there is no certificate
    session = SessionDirectory(Path(ended.document["directory"])).session()
    heaps = [arm.spec.servers[0].heap_bytes for arm in session.arms]
    assert heaps == [512 * 2**20, 640 * 2**20]


def test_plan_says_what_an_effect_takes_by_the_certificate(commands: Commands) -> None:
    commands.certified()
    planned = commands.run(
        *("plan", "gate", "--out", str(commands.folder), "--port", str(commands.bench.port)),
        *(*WINDOWS, "--set", "threads=6"),
    )
    assert planned.code == 0, planned.err
    assert "By the noise certificate ping-steady-process-" in planned.out
    assert "a true 3" in planned.out
