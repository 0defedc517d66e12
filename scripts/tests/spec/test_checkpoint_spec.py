# SPDX-License-Identifier: Apache-2.0
"""Which servers can start from a checkpoint, and what is read back from them."""

import pytest
from builders import make_jvm
from planned import containers, processes, specs

from steelyard.errors import BadInput
from steelyard.jvm.checkpoint import refuse_checkpoint
from steelyard.jvm.identity import JvmIdentity
from steelyard.spec.agreement import differences, requested_settings

OPENJ9 = make_jvm("openj9", 21)


def test_a_server_on_openj9_starts_from_its_checkpoint_and_has_to_be_seen_restored() -> None:
    by_arm = specs("checkpoint-start", runtime=processes(OPENJ9))
    (fresh,) = by_arm["checkpoint-none"].servers
    (server,) = by_arm["checkpoint-after-app-start"].servers
    assert (fresh.checkpoint, server.checkpoint) == ("none", "after_app_start")
    assert "checkpoint" not in requested_settings(fresh)
    assert "checkpoint" in server.read_back
    assert "server-1 does not tell its checkpoint, which should be restored" in differences(server, [])
    assert differences(server, [{"checkpoint": "none"}])[-1].startswith("server-1 has checkpoint none")


def test_variables_that_an_application_does_not_see_before_its_checkpoint_are_said() -> None:
    by_arm = specs("checkpoint-start", runtime=processes(OPENJ9), workload="acmeair")
    said = {arm: [note for note in spec.notes if "OpenJ9 shows no" in note] for arm, spec in by_arm.items()}
    assert {arm for arm, notes in said.items() if notes} == {"checkpoint-after-app-start"}
    assert "MONGO_PORT" in said["checkpoint-after-app-start"][0]


@pytest.mark.parametrize(
    ("jvm", "form", "engine", "says"),
    [
        (
            make_jvm("hotspot"),
            "liberty",
            "process",
            "does not exist on OpenJDK 64-Bit Server VM: choose an OpenJ9",
        ),
        (
            make_jvm("hotspot"),
            "image",
            "compose",
            "does not exist on OpenJDK 64-Bit Server VM: choose an OpenJ9",
        ),
        (None, "image", "compose", "a JVM that is not known"),
        (OPENJ9, "java", "process", "is for Open Liberty"),
        (OPENJ9, "image", "kubernetes", "is for --engine process and compose"),
    ],
)
def test_what_cannot_start_from_a_checkpoint_is_refused(
    jvm: JvmIdentity | None, form: str, engine: str, says: str
) -> None:
    with pytest.raises(BadInput, match=says):
        refuse_checkpoint(jvm, form, engine, "ping, server")


def test_other_procedures_and_jvms_are_refused_before_anything_runs() -> None:
    with pytest.raises(BadInput, match="checkpoint is for start-up and ramp-up trials, this one is steady"):
        specs("jvm-count", "checkpoint=after_app_start", runtime=processes(OPENJ9))
    with pytest.raises(BadInput, match="choose an OpenJ9 with --jdk PATH, in containers"):
        specs("checkpoint-start", runtime=processes(make_jvm("hotspot")))
    with pytest.raises(BadInput, match="pods are not restored yet"):
        specs("checkpoint-start", "engine=kubernetes", runtime=containers("server", jvm=OPENJ9))


def test_a_container_on_openj9_starts_from_its_checkpoint() -> None:
    by_arm = specs("checkpoint-start", "engine=compose", runtime=containers("server", jvm=OPENJ9))
    (server,) = by_arm["checkpoint-after-app-start"].servers
    assert (server.artifact.form, server.checkpoint) == ("image", "after_app_start")
    assert "checkpoint" in server.read_back
