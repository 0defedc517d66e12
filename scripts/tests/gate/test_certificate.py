# SPDX-License-Identifier: Apache-2.0
"""The noise certificate: what it states of pairs whose spread is known, and when it holds."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import planned
import pytest
from builders import make_component, make_host, make_jvm, make_session, make_spec, make_trial
from pairs import BASE, NEW, of_logs
from planned import processes

from steelyard.analysis.paired import detectable_effect
from steelyard.errors import BadInput, Incomplete
from steelyard.gate.certificate import (
    Certificate,
    find_needs,
    make_certificate,
    noise_of,
    sentences,
)
from steelyard.gate.certificates import (
    _combine,
    _widen,
    combine_members,
    find_certificate,
    host_sd,
    host_sd_bound,
    pool_sentence,
)
from steelyard.gate.conditions import Conditions, conditions_of, different_fields
from steelyard.gate.interim import INTERIM_PAIRS, floor_of
from steelyard.jvm.settings import JvmSettings
from steelyard.results.spec import Artifact, Spec
from steelyard.results.store import write_record


def equal_session(blocks: int = 10):
    made = make_session([1, 2], blocks, metrics={"primary": "cpu_per_1k", "report": []})
    design = made.experiment.design.model_copy(update={"equal": True})
    return made.model_copy(update={"experiment": made.experiment.model_copy(update={"design": design})})


def starts(sd: float, blocks: int, seed: int = 1, drift: float = 0.0, slow: float = 0.0):
    """Trials of two equal arms; drift: log, over all; slow: every third start of them is."""
    rng = np.random.default_rng(seed)
    made = []
    for at in range(2 * blocks):
        log = rng.normal(0, sd) + drift * at / (2 * blocks) + slow * (at % 3 == 0)
        begin = 60.0 * at
        made.append(
            make_trial(
                at // 2 + 1,
                (BASE, NEW)[at % 2],
                order=at,
                started=begin,
                phases={"measure": (begin + 20, begin + 50)},
                metrics={"cpu_per_1k": 0.4 * math.exp(log)},
            )
        )
    return made


def test_states_the_spread_that_there_is() -> None:
    found = make_certificate(equal_session(400), starts(0.01, 400))
    noise = found.of("cpu_per_1k")
    assert noise.pairs == found.blocks == 400
    assert noise.start_sd == pytest.approx(0.01, rel=0.08)
    assert noise.pair_sd == pytest.approx(0.01 * math.sqrt(2), rel=0.08)
    assert not noise.drifts
    assert noise.groups is None
    assert found.pair_seconds == pytest.approx(100)
    assert found.of("throughput") is None
    assert Certificate.model_validate_json(found.model_dump_json()) == found


def test_a_figure_of_zero_beside_a_void_trial_hides_no_certificate() -> None:
    trials = starts(0.01, 10)
    trials[0] = trials[0].model_copy(update={"state": "void"})
    trials[1] = trials[1].model_copy(update={"metrics": {"cpu_per_1k": 0.0}})
    assert make_certificate(equal_session(10), trials).of("cpu_per_1k").pairs == 9


def test_a_floor_is_larger_the_fewer_pairs_and_the_fewer_looks() -> None:
    few, many = (make_certificate(equal_session(n), starts(0.01, n)).of("cpu_per_1k") for n in (6, 40))
    assert few.floor / few.pair_sd > 1.5 * many.floor / many.pair_sd
    assert many.floors[6] > many.floors[8] > many.floors[10] > many.floors[20] == many.floor
    assert [many.floor_after(pairs) for pairs in (6, 14, 20)] == [many.floors[pairs] for pairs in (6, 14, 20)]
    before = many.model_copy(update={"floors": {pairs: many.floors[pairs] for pairs in (6, 10, 20)}})
    assert before.floor_after(14) == many.floors[10], "that of fewer pairs is larger"
    assert before.model_copy(update={"floors": {10: 0.02}}).floor_after(6) is None, "that of more is smaller"


def test_drift_and_groups_are_told_and_pairs_cancel_the_drift() -> None:
    calm = make_certificate(equal_session(20), starts(0.004, 20))
    drifting = make_certificate(equal_session(20), starts(0.004, 20, drift=0.2))
    assert drifting.of("cpu_per_1k").drifts
    assert any("drifted by +" in note for note in drifting.notes)
    # 0.2 over 39 minutes
    assert drifting.of("cpu_per_1k").drift == pytest.approx(math.expm1(0.2 / (2400 / 3600)), rel=0.2)
    assert drifting.of("cpu_per_1k").pair_sd < 1.6 * calm.of("cpu_per_1k").pair_sd
    grouped = make_certificate(equal_session(20), starts(0.002, 20, slow=0.1))
    assert grouped.of("cpu_per_1k").groups == pytest.approx(0.4 * math.exp(0.05), rel=0.03)
    assert any("two groups" in note for note in grouped.notes)


def test_too_few_pairs_or_arms_that_differ_certify_nothing() -> None:
    with pytest.raises(Incomplete, match=r"fewer than 6 pairs.*certified by it$"):
        make_certificate(equal_session(5), starts(0.01, 5))
    with pytest.raises(Incomplete, match="fewer than 6 pairs"):
        make_certificate(equal_session(8), of_logs([0.0] * 8))
    with pytest.raises(BadInput, match="arms that differ"):
        make_certificate(make_session([1, 2], 8, metrics={"primary": "cpu_per_1k"}), starts(0.01, 8))


@pytest.mark.parametrize(
    "change", [{"artifact": Artifact(form="image", image="lab/shop:2")}, {"heap_bytes": 2**28}]
)
def test_arms_that_may_be_equal_and_differ_certify_nothing(change: dict[str, Any]) -> None:
    """Those of a gate, which may be equal as well."""
    session = equal_session(8)
    baseline, other = session.arms
    arms = [baseline, other.model_copy(update={"spec": serving(other.spec, **change)})]
    with pytest.raises(BadInput, match="arms that differ"):
        make_certificate(session.model_copy(update={"arms": arms}), starts(0.01, 8))


def test_says_how_many_blocks_an_effect_takes() -> None:
    noise = make_certificate(equal_session(20), starts(0.01, 20)).of("cpu_per_1k")
    found = find_needs(noise, (0.01, 0.02, 0.05), 100.0)
    for need in found:
        assert detectable_effect(need.blocks, noise.pair_sd, 1, noise.pairs) <= need.effect
        assert detectable_effect(need.blocks - 1, noise.pair_sd, 1, noise.pairs) > need.effect
        assert need.seconds == 100 * need.blocks
    wild = noise.model_copy(update={"pair_sd": 30.0})
    assert find_needs(wild, (0.01,), 100.0)[0].blocks is None
    made = make_certificate(equal_session(20), starts(0.01, 20))
    (line,) = sentences(made, "cpu_per_1k")
    assert line.startswith("CPU of the servers per 1,000 requests: a true 1 %: ")
    assert sentences(made, "throughput") == ["throughput: the certificate has no figure of it"]


@pytest.mark.parametrize(
    ("arms", "blocks"), [(2, [24, 12, 6]), (4, [32, 16, 8]), (6, [36, 18, 9])], ids=["2", "4", "6 arms"]
)
def test_several_arms_take_more_blocks_as_a_session_judges_them_together(
    arms: int, blocks: list[int]
) -> None:
    made = make_certificate(equal_session(10), starts(0.01, 10))
    (noise,) = made.noise
    made = made.model_copy(update={"noise": [noise.model_copy(update={"pair_sd": 0.02})]})
    needs = find_needs(made.noise[0], (0.02, 0.03, 0.05), 100.0, arms - 1)
    assert [need.blocks for need in needs] == blocks
    (line,) = sentences(made, "cpu_per_1k", 100.0, arms - 1)
    for percent, number in zip((2, 3, 5), blocks, strict=True):
        assert f"a true {percent} %: {number} blocks, " in line


@pytest.fixture
def folder(tmp_path):
    made = make_certificate(equal_session(10), starts(0.01, 10))
    write_record(tmp_path / made.name, made)
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    return tmp_path


def test_holds_for_its_host_and_question_and_no_other(folder):
    own = make_spec("jvms-1", load=equal_session().arms[0].spec.load)
    wanted = conditions_of(make_host(), own)
    now = 60.0 * 20
    assert find_certificate(folder, wanted, now).session == "jvm-count-1"
    for name, other in (
        ("another kernel", conditions_of(make_host(kernel="6.2"), own)),
        ("another host", conditions_of(make_host(cpus=16), own)),
        ("another host", conditions_of(make_host(hostname="elsewhere"), own)),
        ("other settings of the host", conditions_of(make_host(thp="never"), own)),
        ("another workload", conditions_of(make_host(), own.model_copy(update={"workload_version": "2"}))),
        ("another procedure", conditions_of(make_host(), own.model_copy(update={"procedure": "start-up"}))),
        (
            "another load",
            conditions_of(
                make_host(), own.model_copy(update={"load": own.load.model_copy(update={"users": 9})})
            ),
        ),
        *(
            ("another deployment", conditions_of(make_host(), other))
            for other in (
                own.model_copy(update={"server_cores": 3}),
                own.model_copy(update={"injectors_share_cores": not own.injectors_share_cores}),
                serving(own, heap_bytes=2**28),
                serving(own, memory_bytes=2**30),
                serving(own, jvm_settings=JvmSettings(compile="foreground")),
                serving(own, jvm_settings=JvmSettings(gc="serial")),
            )
        ),
        (
            "another jvm",
            conditions_of(make_host(), serving(own, artifact=Artifact(form="image", image="lab/shop:2"))),
        ),
        *(
            ("other settings of workload, JVM or resources", conditions_of(make_host(), other))
            for other in (
                serving(own, cpu_quota=0.5),
                with_database(own),
                with_database(own, memory_bytes=2**30),
            )
        ),
    ):
        assert f"it is of {name})" in find_certificate(folder, other, now)
    # A clock that was set back does not make an old certificate valid again.
    assert "is of a time that has not come" in find_certificate(folder, wanted, now - 2 * 3600)
    assert "has expired" in find_certificate(folder, wanted, now + 31 * 24 * 3600)
    assert "there is none in" in find_certificate(folder / "none", wanted, now)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"governor": None}, "the setting of the host is not known here: smt on, governor unknown"),
        ({"kernel": "unknown"}, "the version of the kernel is not known here"),
        ({"hostname": "unknown"}, "the name of the host is not known here"),
    ],
)
def test_what_is_not_known_is_not_equal_to_itself(
    tmp_path: Path, changes: dict[str, str | None], named: str
) -> None:
    session = equal_session(10)
    session = session.model_copy(update={"host": make_host(**changes)})
    made = make_certificate(session, starts(0.01, 10))
    assert any(note.startswith("it will hold for no gate: ") for note in made.notes)
    write_record(tmp_path / made.name, made)
    assert named in str(find_certificate(tmp_path, made.conditions, 60.0 * 20))


def test_a_host_without_a_governor_is_like_itself() -> None:
    own = make_spec()
    without = [conditions_of(make_host(governor="none", turbo="none"), own) for _ in range(2)]
    assert different_fields(*without) == []


def test_a_package_whose_jvm_is_not_told_is_not_equal_to_itself_and_a_command_is() -> None:
    own = make_spec()
    unknown, command = (
        conditions_of(make_host(), serving(own, artifact=artifact))
        for artifact in (
            Artifact(form="java", words=["-jar", "x"]),
            Artifact(form="command", words=["nginx"]),
        )
    )
    assert different_fields(unknown, unknown) == ["jvm"]
    assert different_fields(command, command) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"jvm_settings": JvmSettings(nursery=2**26)},
        {"jvm_settings": JvmSettings(gc_threads=3)},
        {"jvm_settings": JvmSettings(jvm_args=["-Xtune:virtualized"])},
        {"expected_info": {"executorThreads": "8"}},
        {"environment": {"THREADS": "8"}},
        {"cpu_quota": 0.5},
        {"killed_after": 3.0},
        {"jvm_options": ["-Xjit:enableJITServerHeuristics"]},
        None,
    ],
)
def test_a_certificate_holds_for_no_other_settings(changes: dict[str, Any] | None) -> None:
    own = serving(make_spec(settings={"mode": "ejb"}), jvm_settings=JvmSettings())
    other = serving(own, **changes) if changes else own.model_copy(update={"settings": {"mode": "direct"}})
    conditions = [conditions_of(make_host(), one) for one in (own, other)]
    assert different_fields(*conditions) == ["settings"]


@pytest.mark.parametrize(
    "changes",
    [
        {"memory_bytes": 2**30},
        {"cpu_quota": 2.0},
        {"cpus": [0, 1]},
        {"heap_bytes": 2**28},
        {"environment": {"JDK_JAVA_OPTIONS": "-Xmx1g"}},
        {"artifact": Artifact(form="command", words=["relay.py", "0.001"])},
        {"settings": {"heap": "256m"}},
        None,
    ],
)
def test_a_certificate_holds_for_nothing_else_beside_the_servers(changes: dict[str, Any] | None) -> None:
    own = with_database(make_spec())
    other = with_database(make_spec(), **changes) if changes else make_spec()
    conditions = [conditions_of(make_host(), one) for one in (own, other)]
    assert different_fields(*conditions) == ["settings"]


@pytest.mark.parametrize(
    ("name", "settings", "differs"),
    [
        ("gate", ["cpus=0.5"], True),
        ("gate", ["numa=spread"], True),
        ("gate", ["injector_cores=1"], True),
        ("jitserver-shared", ["jitserver.delay=1ms"], True),
        ("jitserver-shared", ["jitserver.heuristics=true"], True),
        ("jitserver-latency", ["jitserver.local_sync_compiles=false"], True),
        ("gate", [], False),
        ("jvm-count", [], False),
        ("jitserver-shared", [], False),
        ("jitserver-latency", [], False),
        ("acmeair-topology", [], False),
    ],
)
def test_what_can_be_set_is_compared_and_what_an_engine_fills_in_is_not(
    name: str, settings: list[str], differs: bool
) -> None:
    """Ports move where others are taken."""
    runtime = processes(make_jvm("openj9", 21))
    plain = planned.specs(name, host=planned.cores(8), runtime=runtime)
    other = planned.specs(name, *settings, host=planned.cores(8), runtime=runtime, first_port=9300)
    pairs = zip(plain.values(), other.values(), strict=True)
    assert any(one.ports != two.ports for one, two in zip(plain.values(), other.values(), strict=True))
    found = [conditions_of(make_host(), one) != conditions_of(make_host(), two) for one, two in pairs]
    assert any(found) is differs


def test_states_that_are_switched_for_the_trials_are_compared() -> None:
    specs = make_spec(), make_spec(host_states={"smt": "off"})
    assert different_fields(*(conditions_of(make_host(), one) for one in specs)) == ["settings"]


def test_a_certificate_of_a_time_with_fewer_settings_holds_on() -> None:
    before = conditions_of(
        make_host(), serving(make_spec(), jvm_settings=JvmSettings(gc="serial", nursery=2**26))
    )
    assert before.settings == "ab42f8f91bdd"


def test_a_setting_that_names_the_file_that_runs_is_its_build() -> None:
    """Else each new version of an own server would need a certificate of its own."""

    def of(jar: str, **settings: Any) -> Conditions:
        words = ["-jar", f"/shop/{jar}"]
        spec = serving(
            make_spec(settings={"jar": jar, **settings}),
            artifact=Artifact(form="java", words=words),
            environment={"SHOP": f"/shop/{jar}"},
        )
        return conditions_of(make_host(), spec)

    assert of("old.jar") == of("new.jar")
    assert of("old.jar", mode="ejb") != of("new.jar", mode="direct")


def serving(one: Spec, **changes: Any) -> Spec:
    return one.with_changes("server", lambda _: changes)


def with_database(one: Spec, **changes: Any) -> Spec:
    fields = {"artifact": Artifact(form="command", words=["db"]), **changes}
    return one.model_copy(update={"components": [make_component("database", **fields), *one.components]})


def test_an_image_that_tells_no_jvm_is_certified_for_its_own_versions_alone() -> None:
    def jvm(image: str) -> str:
        return conditions_of(
            make_host(), serving(make_spec(), artifact=Artifact(form="image", image=image))
        ).jvm

    assert (
        jvm("lab:5000/shop:1")
        == jvm("lab:5000/shop:2")
        == jvm(f"lab:5000/shop@sha256:{'0' * 64}")
        == "that of shop"
    )
    assert jvm("lab:5000/shop:1") != jvm("lab:5000/other:1")


def test_a_pool_stands_for_the_names_of_its_hosts(tmp_path):
    made = make_certificate(equal_session(10), starts(0.01, 10), pool="runners")
    write_record(tmp_path / made.name, made)
    own = make_spec("jvms-1", load=equal_session().arms[0].spec.load)
    other = make_host(hostname="runner-17")
    assert isinstance(find_certificate(tmp_path, conditions_of(other, own, "runners"), 0.0), Certificate)
    assert isinstance(find_certificate(tmp_path, conditions_of(other, own), 0.0), str)


def of_pool(hosts: int, sd: float, between: float, blocks: int = 10) -> list[Certificate]:
    """Certificates of a pool's members, whose equal arms differ from host to host as well."""
    rng = np.random.default_rng(3)
    made = []
    for number in range(hosts):
        shift = math.exp(rng.normal(0.0, between))
        trials = [
            trial.model_copy(update={"metrics": {"cpu_per_1k": trial.metrics["cpu_per_1k"] * shift}})
            if trial.arm == NEW
            else trial
            for trial in starts(sd, blocks, seed=number)
        ]
        session = equal_session(blocks)
        host = make_host(hostname=f"runner-{number}")
        made.append(make_certificate(session.model_copy(update={"host": host}), trials, pool="runners"))
    return made


def test_members_of_a_pool_have_a_certificate_each(tmp_path: Path) -> None:
    """One file was written over the other: the pool's certificate was that of whoever came last."""
    members = of_pool(3, 0.01, 0.0)
    for member in members:
        write_record(tmp_path / member.name, member)
    assert len(list(tmp_path.glob("*.json"))) == 3
    found = find_certificate(tmp_path, members[0].conditions, 60.0 * 20)
    assert isinstance(found, Certificate)
    noise = found.of("cpu_per_1k")
    assert noise is not None
    assert (found.members, noise.pairs) == (3, 30)
    assert noise.floor >= max(own.floor for member in members if (own := member.of("cpu_per_1k")) is not None)
    # A later certificate of a member takes the place of its earlier one.
    later = members[0].model_copy(update={"made": members[0].made + 60})
    write_record(tmp_path / "later.json", later)
    again = find_certificate(tmp_path, members[0].conditions, 60.0 * 20)
    assert isinstance(again, Certificate)
    assert again.members == 3


def test_what_hosts_do_to_one_side_is_estimated_over_a_pool_and_widens_its_floor() -> None:
    apart = [noise for each in of_pool(200, 0.01, 0.02) if (noise := each.of("cpu_per_1k")) is not None]
    assert host_sd(apart) == pytest.approx(0.02, rel=0.15)
    alike = [noise for each in of_pool(200, 0.01, 0.0) if (noise := each.of("cpu_per_1k")) is not None]
    found = host_sd(alike)
    assert found is not None
    assert found < 0.003
    assert 0.02 < host_sd_bound(apart) < 0.025
    pools = [combine_members(of_pool(8, 0.01, between)) for between in (0.0, 0.03)]
    floors = [noise.floor for pool in pools if (noise := pool.of("cpu_per_1k")) is not None]
    assert floors[1] > 2 * floors[0]
    assert "from host to host" in pool_sentence(pools[1], "cpu_per_1k")


def test_of_three_members_the_floor_holds_on_another_host() -> None:
    """The term is as large as its standard error: the estimate is 0 in two of five pools, and widened nothing there."""
    pairs, sd = 10, 0.01
    between = sd / math.sqrt(pairs)
    rng = np.random.default_rng(11)
    known = floor_of(sd, 10_000)  # of a spread that is known, and not a bound of it
    beyond = math.log1p(_widen(0.0, between, INTERIM_PAIRS))
    needed = math.expm1(math.hypot(math.log1p(known), beyond))
    holds = nothing = 0
    member = of_pool(1, sd, 0.0)[0].noise[0]
    for _ in range(200):
        noises = []
        for own in sd * np.sqrt(rng.chisquare(pairs - 1, 3) / (pairs - 1)):
            mean = math.exp(rng.normal(0.0, math.hypot(between, sd / math.sqrt(pairs))))
            update = {
                "pair_sd": own,
                "pairs": pairs,
                "mean": mean,
                "floor": floor_of(own, pairs),
                "floors": {},
            }
            noises.append(member.model_copy(update=update))
        pool = _combine(noises)
        holds += pool.floor >= needed
        nothing += pool.host_sd == 0
    assert nothing > 60
    assert holds >= 180


def test_of_two_members_nothing_is_said_of_what_hosts_do() -> None:
    pair = of_pool(2, 0.01, 0.05)
    assert host_sd([noise for each in pair if (noise := each.of("cpu_per_1k")) is not None]) is None
    assert "is not known of fewer than 3" in pool_sentence(combine_members(pair), "cpu_per_1k")
    (alone,) = of_pool(1, 0.01, 0.0)
    assert combine_members([alone]) == alone


def test_equal_arms_differ_by_chance_as_often_as_is_said() -> None:
    """p of the equal arms is uniform: the note comes in 1 % of certificates."""
    below = 0
    for seed in range(400):
        (noise,) = noise_of(equal_session(8), starts(0.01, 8, seed), ["cpu_per_1k"])
        below += noise.p < 0.1
    assert below / 400 == pytest.approx(0.1, abs=3.3 * math.sqrt(0.09 / 400))
