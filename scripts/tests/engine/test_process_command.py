# SPDX-License-Identifier: Apache-2.0
"""What the process engine makes of a component: command line, environment, files, and the scripts that repeat it."""

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from builders import make_component, make_jvm, make_spec
from planned import specs

from steelyard.engines.process.command import (
    Places,
    command,
    command_line,
    deployment_script,
    environment,
    files,
    inherited_environment,
    load_script,
)
from steelyard.results.spec import Artifact, Component, Spec
from steelyard.workload.schema import DataRequest, Ready

PLACES = Places("/t/server-1", "/package", "/t/cache/server")


def server(**more: Any) -> Component:
    fields: dict[str, Any] = {
        "artifact": Artifact(form="liberty", package="ping", words=["ping"], jvm=make_jvm("hotspot")),
        "cpus": [0, 2],
        "port": 9081,
        "jvm_options": ["-Xmx64m", "-Dwords=two words", "-Xlog:gc:file=${folder}/logs/gc.log"],
        "heap_bytes": None,
        "counters": None,
    }
    return make_component(**(fields | more))


def foreign(form: Any, *words: str, **more: Any) -> Component:
    return server(artifact=Artifact(form=form, words=list(words), jvm=make_jvm("hotspot")), **more)


@pytest.fixture(scope="module")
def services() -> Spec:
    return specs("acmeair-topology")["topology-microservices"]


def test_a_liberty_server_has_folders_a_port_and_cpus_of_its_own() -> None:
    component = server(environment={"MARK": "in ${folder}"})
    assert command(component, PLACES) == ["taskset", "-c", "0,2", "/package/wlp/bin/server", "run", "ping"]
    assert environment(component, PLACES) == {
        "JAVA_HOME": "/opt/hotspot-17",
        "WLP_USER_DIR": "/t/server-1/usr",
        "LOG_DIR": "/t/server-1/logs",
        "VERBOSEGC": "false",
        "HTTP_HOST": "127.0.0.1",
        "HTTP_PORT": "9081",
        "JVM_ARGS": "-Djava.io.tmpdir=/t/server-1/tmp -Xmx64m '-Dwords=two words'"
        " -Xlog:gc:file=/t/server-1/logs/gc.log",
        "MARK": "in /t/server-1",
    }


def test_java_and_whole_commands_take_the_options_where_they_belong() -> None:
    jar = foreign(
        "java", "-jar", "${package}/app.jar", jvm_options=["-Xmx64m", "-XX:SharedArchiveFile=${cache}/c"]
    )
    assert command(jar, PLACES) == [
        *(
            "taskset",
            "-c",
            "0,2",
            "/opt/hotspot-17/bin/java",
            "-Djava.io.tmpdir=/t/server-1/tmp",
            "-Xmx64m",
            "-XX:SharedArchiveFile=/t/cache/server/c",
        ),
        *("-jar", "/package/app.jar"),
    ]
    assert environment(jar, PLACES) == {"JAVA_HOME": "/opt/hotspot-17"}
    script = foreign(
        "command", "${java}", "${jvm_options}", "App", "--at", "${folder}/x", jvm_options=["-Xmx64m", "-Da=b"]
    )
    assert command(script, PLACES)[3:] == [
        "/opt/hotspot-17/bin/java",
        "-Xmx64m",
        "-Da=b",
        "App",
        "--at",
        "/t/server-1/x",
    ]


def test_what_is_no_jvm_gets_no_java_home() -> None:
    proxy = server(artifact=Artifact(form="command", words=["nginx", "-p", "${folder}/"]), jvm_options=[])
    assert environment(proxy, PLACES) == {}
    assert command(proxy, PLACES)[3:] == ["nginx", "-p", "/t/server-1/"]


def test_only_what_is_harmless_is_inherited() -> None:
    ours = {
        **dict.fromkeys(
            ("JAVA_TOOL_OPTIONS", "OPENJ9_JAVA_OPTIONS", "WLP_USER_DIR", "MONGO_HOST"), "meddling"
        ),
        "PATH": "/bin",
        "HOME": "/root",
        "TZ": "UTC",
        "LANG": "tr_TR.UTF-8",
        "LC_NUMERIC": "de_DE.UTF-8",
        "LANGUAGE": "fr",
    }
    assert inherited_environment(ours) == {"PATH": "/bin", "HOME": "/root", "TZ": "UTC", "LC_ALL": "C.UTF-8"}


def test_servers_reach_their_database_and_each_other_through_the_proxy(services: Spec) -> None:
    ports = {one.name: one.port for one in services.components}
    booking = environment(services.component("booking-1"), PLACES)
    assert booking["MONGO_HOST"] == "127.0.0.1"
    assert booking["MONGO_PORT"] == str(ports["booking-database"])
    assert booking["ACMEAIR_STACKAA_CUSTOMER_URL"] == "http://127.0.0.1:9080/customer"
    assert "MONGO_HOST" not in environment(services.component("main-1"), PLACES)
    assert len({ports[f"{name}-database"] for name in ("customer", "flight", "booking")}) == 3
    database = command(services.component("flight-database"), PLACES)
    assert database[5:7] == ["-Xmx1g", "-XX:+UseParallelGC"]
    assert database[-4:] == ["--host", "127.0.0.1", "--port", str(ports["flight-database"])]


def test_the_command_of_a_plan_can_be_typed() -> None:
    words = [
        "sh",
        "-c",
        "echo a; exec ${java} ${jvm_options} -jar '${package}/x.jar'",
        "--log=${folder}/a",
        "b*",
    ]
    artifact = server().artifact.model_copy(update={"form": "command", "words": words})
    line = command_line(server().model_copy(update={"artifact": artifact}))
    typed = shlex.split(line.partition(" taskset ")[2])
    assert typed[2:] == [
        "sh",
        "-c",
        next(word for word in typed if word.startswith("echo a; exec ")),
        f"--log=$TRIAL/servers/{server().name}/a",
        "b*",
    ]


def test_copies_of_a_service_share_a_key_that_no_other_component_is_told_of() -> None:
    doubled = specs("acmeair-topology", "jvms=2", "total_heap=4g")["topology-microservices"]
    variable = "ACMEAIR_JWT_PRIVATEKEY_LOCATION"
    told = {
        one.name: environment(one, Places(f"/t/{one.name}", "/package", "/t/cache"))
        for one in doubled.components
    }
    assert {name: one[variable] for name, one in told.items() if variable in one} == {
        "auth-1": "/t/shared/auth.pem",
        "auth-2": "/t/shared/auth.pem",
    }


def test_the_proxy_leads_to_every_jvm_of_a_service() -> None:
    doubled = specs("acmeair-topology", "jvms=2", "total_heap=4g")["topology-microservices"]
    proxy = doubled.component("proxy")
    first, second = (doubled.component(name).port for name in ("auth-1", "auth-2"))
    written = files(proxy)
    assert (
        f"upstream auth {{ server 127.0.0.1:{first}; server 127.0.0.1:{second}; keepalive 1000;"
        " keepalive_timeout 20s; }"
    ) in written["upstreams.conf"].splitlines()
    assert written["listen.conf"] == "listen 127.0.0.1:9080;\n"
    assert "include" in written["nginx.conf"]
    assert command(proxy, PLACES)[3:6] == ["nginx", "-p", "/t/server-1/"]


def test_the_plan_shows_folders_as_names() -> None:
    line = command_line(server())
    assert 'LOG_DIR="$TRIAL/servers/server-1/logs"' in line
    assert line.endswith("taskset -c 0,2 $PACKAGE/wlp/bin/server run ping")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package whose `server` writes down how it was called."""
    folder = tmp_path / "a package"
    (folder / "wlp" / "bin").mkdir(parents=True)
    script = folder / "wlp" / "bin" / "server"
    script.write_text(
        '#!/bin/sh\nprintf "%s|%s|%s|%s" "$*" "$HTTP_PORT" "$JVM_ARGS" "$WLP_USER_DIR" > "$LOG_DIR/called"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    return folder


def test_the_replay_starts_the_same_commands_in_folders_of_its_own(tmp_path: Path, package: Path) -> None:
    """Run the script for real."""
    primed, replay, elsewhere = tmp_path / "primed", tmp_path / "replay", tmp_path / "else where"
    (primed / "servers" / "ping").mkdir(parents=True)
    replay.mkdir()
    elsewhere.mkdir()
    cpu = [min(os.sched_getaffinity(0))]
    beside = server(
        name="helper",
        artifact=Artifact(form="command", words=["sh", "-c", 'pwd > "$OUT"; cp "$DIR/note.txt" "$OUT.copy"']),
        cpus=cpu,
        environment={"OUT": "${folder}/pwd", "DIR": "${folder}"},
        files={"note.txt": "it's $HOME\n"},
        started_in=str(elsewhere),
    )
    script = replay / "deployment.sh"
    script.write_text(
        deployment_script(
            make_spec(components=[beside, server(cpus=cpu)]), {"server-1": str(package)}, {"server-1": primed}
        ),
        encoding="utf-8",
    )
    subprocess.run(["sh", str(script)], check=True)
    folder = replay / "server-1"
    called = (folder / "logs" / "called").read_text(encoding="utf-8").split("|")
    assert [called[0], called[1], called[3]] == ["run ping", "9081", str(folder / "usr")]
    assert shlex.split(called[2]) == [
        f"-Djava.io.tmpdir={folder}/tmp",
        *("-Xmx64m", "-Dwords=two words", f"-Xlog:gc:file={folder}/logs/gc.log"),
    ]
    assert (folder / "tmp").is_dir()
    assert (folder / "usr" / "servers" / "ping").is_dir()
    assert (replay / "helper" / "pwd").read_text(encoding="utf-8").strip() == str(elsewhere)
    assert (replay / "helper" / "pwd.copy").read_text(encoding="utf-8") == "it's $HOME\n"


def test_the_replay_waits_for_servers_and_loads_their_data() -> None:
    one = server(ready=Ready(path="/ready"))
    data = [DataRequest(component="server-1", path="/load?n=1&m=2")]
    script = deployment_script(make_spec(components=[one], data=data), {"server-1": "/package"}, {})
    assert "until curl -fs -o /dev/null http://127.0.0.1:9081/ready; do sleep 1; done" in script
    assert "curl -fsS 'http://127.0.0.1:9081/load?n=1&m=2'; echo" in script


def test_the_replay_gives_every_word_as_it_was(tmp_path: Path) -> None:
    """Run the script for real: the shell replaces the folder of the script, and nothing that a user wrote."""
    words = ["$HOME/x", "`id`", "$(id)", "$HERE", "a \"b\" 'c' \\n", "", "two words", "in ${folder}/$1"]
    told = ['printf \'%s\\n\' "$@" "$MARK" > words', "sh", *words]
    one = server(
        artifact=Artifact(form="command", words=["sh", "-c", *told]),
        cpus=[min(os.sched_getaffinity(0))],
        environment={"MARK": "$HERE ${folder} `$`"},
    )
    script = tmp_path / "deployment.sh"
    script.write_text(deployment_script(make_spec(components=[one]), {}, {}), encoding="utf-8")
    subprocess.run(["sh", str(script)], check=True)
    folder = tmp_path / "server-1"
    seen = (folder / "words").read_text(encoding="utf-8").splitlines()
    assert seen == [*words[:-1], f"in {folder}/$1", f"$HERE {folder} `$`"]


def test_the_load_is_repeated_with_the_same_settings(tmp_path: Path) -> None:
    """Run the script for real, with a `java` that shows what it was given."""
    home = tmp_path / "jdk"
    (home / "bin").mkdir(parents=True)
    java = home / "bin" / "java"
    java.write_text(
        '#!/bin/sh\nfor last; do :; done\ncp "$last" "$(dirname "$last")/given"\n', encoding="utf-8"
    )
    java.chmod(0o755)
    jvm = make_jvm("hotspot").model_copy(update={"home": str(home)})
    injector = specs("jvm-count")["jvms-1"].injectors[0]
    injector = injector.model_copy(
        update={
            "cpus": [min(os.sched_getaffinity(0))],
            "artifact": injector.artifact.model_copy(update={"jvm": jvm}),
        }
    )
    script = tmp_path / "load.sh"
    script.write_text(load_script([injector], {"injector-1": "/loadgen"}), encoding="utf-8")
    settings = {**injector.settings, "output": "@OUTPUT@"}
    (tmp_path / "injector-1.json").write_text(json.dumps(settings), encoding="utf-8")
    subprocess.run(["sh", str(script)], check=True)
    given = json.loads((tmp_path / "injector-1" / "given").read_text(encoding="utf-8"))
    assert given == {**settings, "output": str(tmp_path / "injector-1")}
