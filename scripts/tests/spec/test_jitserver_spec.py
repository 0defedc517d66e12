# SPDX-License-Identifier: Apache-2.0
"""A JITServer in a spec: its place, its ports, its part of cores and memory, its cache."""

from typing import Any

import pytest
from builders import make_jvm
from planned import asked, containers, cores, processes, specs_of

from steelyard.errors import BadInput
from steelyard.results.spec import Spec
from steelyard.spec.plan import without_caches
from steelyard.spec.split import check_conserved
from steelyard.units import MIB

OPENJ9 = make_jvm("openj9", 21)
REMOTE = {"levels": {"local": {"jit": "local"}, "remote": {"jit": "remote"}}}


def pair(workload: str = "ping", *, contained: bool = False, **keys: Any) -> dict[str, Spec]:
    """An arm that compiles by itself and one with a JITServer, on four cores."""
    kinds = ("server", "jitserver")
    runtime = containers(*kinds, jvm=OPENJ9) if contained else processes(OPENJ9)
    return specs_of(asked(workload, **{"factors": {"how": REMOTE}, **keys}), cores(4), runtime)


@pytest.mark.parametrize("workload", ["ping", "acmeair", "daytrader7"])
def test_any_workload_can_have_one(workload: str) -> None:
    local, remote = pair(workload).values()
    assert local.of("compiler") == []
    assert [one for one in remote.servers[0].jvm_options if one not in local.servers[0].jvm_options]
    (jitserver,) = remote.of("compiler")
    assert jitserver.artifact.jvm == OPENJ9
    assert f"-XX:JITServerPort={jitserver.serves}" in jitserver.jvm_options
    assert f"-XX:JITServerMetricsPort={jitserver.port}" in jitserver.jvm_options
    assert f"-XX:JITServerPort={jitserver.serves}" in remote.servers[0].jvm_options
    assert len({*remote.ports}) == len(remote.ports)
    assert {jitserver.port, jitserver.serves} <= {*remote.ports}
    # Servers wait for it.
    names = [one.name for one in remote.components]
    assert names.index(jitserver.name) < names.index(remote.servers[0].name)


def test_it_shares_the_servers_cores_or_takes_some_of_them() -> None:
    local, remote = pair(deployment={"cores": 3}).values()
    assert remote.of("compiler")[0].cpus == remote.servers[0].cpus == local.servers[0].cpus == [0, 1, 2]
    local, remote = pair(deployment={"cores": 3, "jitserver": {"cores": 1}}).values()
    assert (local.servers[0].cpus, remote.servers[0].cpus) == ([0, 1, 2], [0, 1])
    assert remote.of("compiler")[0].cpus == [2]
    assert local.server_cores == remote.server_cores == 3
    assert remote.notes[0] == "how-remote: the JITServer has 1 of the 3 cores for its own"


def test_its_memory_is_part_of_the_total() -> None:
    sizes: dict[str, Any] = {"engine": "compose", "total_memory": "1g", "total_heap": "256m"}
    made = pair(contained=True, deployment=sizes | {"jitserver": {"memory": "256m"}})
    local, remote = made.values()
    check_conserved(made, ["jit"])
    assert local.servers[0].memory_bytes == 1024 * MIB
    assert remote.servers[0].memory_bytes == 768 * MIB
    assert remote.of("compiler")[0].memory_bytes == 256 * MIB
    each = {"engine": "compose", "memory": "512m", "total_heap": "256m", "jitserver": {"memory": "256m"}}
    uneven = pair(contained=True, deployment=each)
    with pytest.raises(BadInput, match="memory limit is 512 MiB in how-local and 768 MiB in how-remote"):
        check_conserved(uneven, ["jit"])
    check_conserved(uneven, ["jit", "memory"])


def test_in_a_container_it_is_reached_by_name_and_asked_at_its_status_port() -> None:
    _, remote = pair(contained=True, deployment={"engine": "compose"}).values()
    (jitserver,) = remote.of("compiler")
    assert {"-XX:JITServerAddress=jitserver", "-XX:JITServerPort=38400"} <= {*remote.servers[0].jvm_options}
    assert jitserver.container is not None
    assert (jitserver.container.port, jitserver.container.status) == (38400, 38500)


def test_one_with_a_warm_cache_stays_from_the_start_before_the_measured_one() -> None:
    keys: dict[str, Any] = {"deployment": {"jitserver": {"aot_cache": "warm"}}, "procedure": "ramp-up"}
    local, remote = pair(**keys).values()
    assert (local.keeps_compilers, remote.keeps_compilers) == (False, True)
    # Ping has no data to load, and would have no start before.
    assert (local.needs_preparation, remote.needs_preparation) == (False, True)
    own, before = remote.servers[0].jvm_options, without_caches(remote).servers[0].jvm_options
    apart = next(option for option in before if option not in own)
    assert apart == "-Xshareclasses:name=steelyard,nonfatal,cacheDir=${folder}/classes/apart"


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"deployment": {"cores": 2, "jitserver": {"cores": 2}}}, "leaves none of 2 to the servers"),
        (
            {"deployment": {"jitserver": {"killed_after": "5s"}}, "procedure": "start-up"},
            "killed_after means nothing to a start-up trial",
        ),
        (
            {"deployment": {"jitserver": {"aot_cache": "warm"}}},
            "aot_cache: warm is for start-up and ramp-up trials, this one is steady",
        ),
        ({"deployment": {"jitserver": {"killed_after": "2m"}}}, "is not within the measurement of 60 s"),
    ],
)
def test_what_makes_no_sense_is_refused(keys: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        pair(**keys)


def test_a_total_of_memory_needs_its_part() -> None:
    with pytest.raises(BadInput, match=r"say how much with jitserver\.memory"):
        pair(contained=True, deployment={"engine": "compose", "total_memory": "1g"})


def test_a_relay_stands_before_it_where_a_delay_is_asked_for() -> None:
    _, remote = pair(deployment={"jitserver": {"delay": "0.25ms"}}).values()
    (relay,), (jitserver,) = remote.of("service"), remote.of("compiler")
    assert f"-XX:JITServerPort={relay.serves}" in remote.servers[0].jvm_options
    listen, host, port, delay, status = relay.artifact.words[2:]
    assert (int(listen), host, int(port), float(delay), int(status)) == (
        relay.serves,
        "127.0.0.1",
        jitserver.serves,
        0.00025,
        relay.port,
    )
    with pytest.raises(BadInput, match="does not say how its relay runs with the compose engine"):
        pair(contained=True, deployment={"engine": "compose", "jitserver": {"delay": "0"}})
