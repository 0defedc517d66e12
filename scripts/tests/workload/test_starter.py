# SPDX-License-Identifier: Apache-2.0
"""`init`: three answers make a workload file that can be planned."""

import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from steelyard.cli import workload as command
from steelyard.cli.app import app
from steelyard.errors import BadInput, NoSpace, SteelyardError
from steelyard.experiment.loader import load_experiment
from steelyard.host.checkout import are_of_checkout
from steelyard.paths import ROOT
from steelyard.session.plan import host_checks
from steelyard.workload.loader import load_workload
from steelyard.workload.schema import ProcessDescription
from steelyard.workload.starter import QUESTION, Starter, make_starter
from steelyard.workload.trust import is_trusted


def starter(typed: str, port: int = 8080) -> Starter:
    return make_starter("shop", typed, port, "/health", here=Path("/srv"), folder=Path("/srv/shop"))


def process_of(made: Starter, folder: Path) -> ProcessDescription:
    file = folder / "workload.yaml"
    file.write_text(made.text, encoding="utf-8")
    process = load_workload(str(file)).workload.topologies["single"].components["server"].process
    assert process is not None
    return process


def test_a_java_command_keeps_its_words_but_for_what_experiments_set(tmp_path: Path) -> None:
    made = starter("java -Xmx512m -XX:+UseZGC -Dserver.port=8080 -jar shop.jar --config='my conf'")
    assert made.start.settings == ["-Xmx512m", "-XX:+UseZGC"]
    process = process_of(made, tmp_path)
    assert process.java == ["-Dserver.port=${port}", "-jar", "shop.jar", "--config=my conf"]
    assert process.folder == "..", "it is started where the command was typed"


def test_variables_in_front_become_its_environment(tmp_path: Path) -> None:
    process = process_of(starter("PORT=8080 MODE='a \"b\"' node server.js"), tmp_path)
    assert process.command == ["node", "server.js"]
    assert process.environment == {"PORT": "${port}", "MODE": 'a "b"'}


def test_a_port_is_replaced_only_where_it_stands_by_itself(tmp_path: Path) -> None:
    process = process_of(starter("serve :80 --max=8080 --name=180", port=80), tmp_path)
    assert process.command == ["serve", ":${port}", "--max=8080", "--name=180"]


@pytest.mark.parametrize(
    ("typed", "port", "words"),
    [
        (
            "java -Dhttp.timeout=3000 -jar a.jar --port=3000",
            3000,
            ["java", "-Dhttp.timeout=3000", "-jar", "a.jar", "--port=${port}"],
        ),
        (
            "java -jar shop-1.80.jar --server.port=80",
            80,
            ["java", "-jar", "shop-1.80.jar", "--server.port=${port}"],
        ),
        ("java -jar shop.jar 8080", 8080, ["java", "-jar", "shop.jar", "${port}"]),
        ("serve -m 8080 --httpPort 8080", 8080, ["serve", "-m", "8080", "--httpPort", "${port}"]),
        ("serve --transport=8080 -p8080", 8080, ["serve", "--transport=8080", "-p${port}"]),
        ("serve --urls http://localhost:8080/x", 8080, ["serve", "--urls", "http://localhost:${port}/x"]),
        ("serve --http 0.0.0.0:8080", 8080, ["serve", "--http", "0.0.0.0:${port}"]),
        ("serve --max=8080 '${port}'", 8080, ["serve", "--max=8080", "${port}"]),
        ("sh -c 'serve 8080 --port=8080'", 8080, ["sh", "-c", "serve 8080 --port=${port}"]),
        (
            "docker run -p 8080:80 -v 8080:/x shop",
            8080,
            ["docker", "run", "-p", "${port}:80", "-v", "8080:/x", "shop"],
        ),
    ],
)
def test_only_what_is_about_the_port_is_replaced(typed: str, port: int, words: list[str]) -> None:
    assert starter(typed, port).start.words == words


def test_a_port_in_a_variable_is_the_variables(tmp_path: Path) -> None:
    process = process_of(starter("JAVA_OPTS='-Dserver.port=8080 -Xss1m' MAX=8080 ./start.sh"), tmp_path)
    assert process.environment == {"JAVA_OPTS": "-Dserver.port=${port} -Xss1m", "MAX": "8080"}


@pytest.mark.parametrize(
    "wrapper", ["exec", "nohup", "setsid", "nice -n 5", "taskset -c 0", "env", "exec nice -5"]
)
def test_what_starts_the_java_is_left_out(tmp_path: Path, wrapper: str) -> None:
    made = starter(f"{wrapper} java -jar shop.jar --port=8080")
    assert process_of(made, tmp_path).java == ["-jar", "shop.jar", "--port=${port}"]
    assert made.start.wrapper == wrapper.split()


def test_what_env_sets_are_variables(tmp_path: Path) -> None:
    process = process_of(starter("A=1 env PORT=8080 nice java -jar shop.jar"), tmp_path)
    assert (process.java, process.environment) == (["-jar", "shop.jar"], {"A": "1", "PORT": "${port}"})


@pytest.mark.parametrize(
    ("options", "left_out"),
    [
        (
            "-XX:MaxHeapSize=1g -XX:ParallelGCThreads=2 -Xss1m",
            ["-XX:MaxHeapSize=1g", "-XX:ParallelGCThreads=2"],
        ),
        ("-Xgcthreads2 -Xshareclasses:none", ["-Xgcthreads2", "-Xshareclasses:none"]),
    ],
)
def test_whatever_an_arm_may_set_is_left_out(options: str, left_out: list[str]) -> None:
    made = starter(f"java {options} -jar shop.jar --port=8080 -Xmx9g").start
    assert made.settings == left_out
    assert made.words[-1] == "-Xmx9g", "the server's own"
    in_variable = starter(f"JAVA_TOOL_OPTIONS='{options}' java -jar shop.jar --port=8080").start
    assert in_variable.settings == left_out
    assert in_variable.variables == ({"JAVA_TOOL_OPTIONS": "-Xss1m"} if "-Xss1m" in options else {})


def test_the_jdk_that_was_typed_is_named(tmp_path: Path) -> None:
    java = tmp_path / "jdk-21" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.touch()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(java)
    for typed in (java, tmp_path / "bin" / "java"):
        assert starter(f"{typed} -jar a.jar 8080").start.jdk == str(tmp_path / "jdk-21")
    assert starter("java -jar a.jar 8080").start.jdk is None
    script = starter("./java -jar a.jar 8080").start
    assert (script.is_java, script.jdk) == (False, None), "a script of that name"


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (
            "docker run --rm -p 127.0.0.1:8080:8080 -e PORT=8080 shop:1",
            ["docker", "run", "--rm", "-p", "127.0.0.1:${port}:8080", "-e", "PORT=8080", "shop:1"],
        ),
        ("podman run -p 8080:80 shop:1", ["podman", "run", "-p", "${port}:80", "shop:1"]),
        (
            "docker run --network host shop:1 --port=8080",
            ["docker", "run", "--network", "host", "shop:1", "--port=${port}"],
        ),
    ],
)
def test_a_container_keeps_its_own_port(tmp_path: Path, typed: str, words: list[str]) -> None:
    assert process_of(starter(typed), tmp_path).command == words


def test_what_stands_in_quotes_is_the_servers_to_read(tmp_path: Path) -> None:
    process = process_of(
        starter("java -cp 'lib/*:app.jar' Shop --port=8080 --greet=\"a & b; c?\" x\\;"), tmp_path
    )
    assert process.java == ["-cp", "lib/*:app.jar", "Shop", "--port=${port}", "--greet=a & b; c?", "x;"]


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        ("cd shop && java -jar shop.jar --port=8080", "&&"),
        ("cd shop; java -jar shop.jar --port=8080", ";"),
        ("java -jar shop.jar --port=8080 | tee log", "|"),
        ("java -jar shop.jar --port=8080 || true", "||"),
        ("java -jar shop.jar --port=8080 &", "&"),
        ("java -jar shop.jar --port=8080 > log 2>&1", ">"),
        ("java -jar shop.jar --port=8080 2>&1", ">&"),
        ("java -jar shop.jar --port=8080 < data", "<"),
        ("~/jdk/bin/java -jar shop.jar --port=8080", "~"),
        ("HOME=~/shop java -jar shop.jar --port=8080", "~"),
        ("java -cp lib/* Shop 8080", "*"),
        ("java -cp lib/?.jar Shop 8080", "?"),
        ("java -jar `ls shop-1.jar` 8080", "`"),
    ],
)
def test_what_only_a_shell_reads_is_refused(typed: str, named: str) -> None:
    with pytest.raises(BadInput, match=re.escape(f"holds {named}, which only a shell reads")):
        starter(typed)


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("java -jar shop.jar", "port 8080 is not in the start command"),
        ("java -jar shop.jar --port=18080", "port 8080 is not in the start command"),
        ("java -jar shop.jar --timeout=8080", "port 8080 is not in the start command"),
        ("serve --timeout 8080", "port 8080 is not in the start command"),
        ("serve --port=8080 --admin.port=8080", r"in several places .*\(--port=8080, --admin.port=8080\)"),
        ("env -i java -jar shop.jar 8080", "env -i of the start command"),
        ("nohup", "there is no start command"),
        ("java -jar $HOME/shop.jar --port=8080", "holds a variable"),
        ("java -jar 'shop.jar --port=8080", "cannot be read"),
        ("PORT=8080", "there is no start command"),
    ],
)
def test_what_cannot_become_a_file_is_refused(typed: str, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        starter(typed)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "keep_trust", lambda _file: None)
    return tmp_path


def init(*words: str, answers: str = "") -> Any:  # click's, which typer hides
    result = CliRunner().invoke(app, ["init", *words], input=answers)
    if isinstance(result.exception, SteelyardError):
        raise result.exception
    return result


def test_it_asks_what_is_not_given(here: Path) -> None:
    result = init("shop", answers="python3 -m http.server 8000\n8000\n/\n")
    assert result.exit_code == 0, result.output
    assert load_workload(str(here / "shop" / "workload.yaml")).workload.name == "shop"


@pytest.mark.parametrize(
    ("typed", "is_java"), [("java -jar shop.jar --port=8080", True), ("python3 -m http.server 8080", False)]
)
def test_it_names_no_command_that_would_be_refused(here: Path, typed: str, is_java: bool) -> None:
    said = init("shop", "--start", typed, "--port", "8080", "--path", "/").output
    assert ("run jvm-count --quick --workload shop/workload.yaml" in said) == is_java
    assert ("put ${jvm_options} into it" in said) != is_java
    assert ("run shop/processes.yaml --quick" in said) != is_java


@pytest.mark.parametrize(
    ("folder", "launcher"),
    [(ROOT, "./steelyard"), (ROOT / "apps", f"{ROOT}/steelyard")],
    ids=["top", "other"],
)
def test_next_commands_name_a_launcher_that_is_there(
    here: Path, monkeypatch: pytest.MonkeyPatch, folder: Path, launcher: str
) -> None:
    """Servers start in folders of their own, in which there is no ./steelyard."""
    monkeypatch.setattr(Path, "cwd", lambda: folder)
    said = init("shop", "--start", "serve 8080", "--port", "8080", "--path", "/").output
    lines = said.partition("next:\n")[2].splitlines()[:4]
    assert [line.split()[0] for line in lines] == [launcher] * 4


def test_what_differs_from_what_was_typed_is_said(here: Path) -> None:
    typed = "nice -n 5 '/opt/my jdk/bin/java' -XX:MaxHeapSize=1g -jar shop.jar --port=8080"
    said = init("shop", "--start", typed, "--port", "8080", "--path", "/").output
    assert "each server gets a port of its own: --port=${port}\n" in said
    assert "left out, for the harness starts the server itself: nice -n 5\n" in said
    assert "left out, for experiments set them: -XX:MaxHeapSize=1g (heap)\n" in said
    for printed in ("up shop/workload.yaml", "run jvm-count --quick --workload shop/workload.yaml"):
        assert f"{printed} --jdk '/opt/my jdk'\n" in said


def test_a_server_without_a_jvm_has_a_question_of_its_own(here: Path) -> None:
    init("shop", "--start", "python3 -m http.server 8080", "--port", "8080", "--path", "/")
    file = here / "shop" / "processes.yaml"
    loaded = load_experiment(file, host_checks())
    assert loaded.workload.workload.name == "shop"
    assert loaded.experiment.quick.warmup.until == "fixed", "it has no JIT compiler to wait for"
    (here / "shop" / "workload.yaml").unlink()
    with pytest.raises(BadInput, match=r"processes\.yaml is there already"):
        init("shop", "--start", "python3 -m http.server 8080", "--port", "8080", "--path", "/")


def test_the_page_shows_that_question() -> None:
    page = (ROOT / "docs" / "own-server.md").read_text(encoding="utf-8")
    block = next(part for part in page.split("```yaml\n")[1:] if part.startswith("steelyard: 1\n"))
    shown, written = yaml.safe_load(block.partition("```")[0]), yaml.safe_load(QUESTION)
    assert {**shown, "workload": written["workload"]} == written


def test_a_file_that_is_there_stays(here: Path) -> None:
    given = ("--start", "serve 8000", "--port", "8000", "--path", "/")
    assert init("shop", *given).exit_code == 0
    (here / "shop" / "workload.yaml").write_text("mine", encoding="utf-8")
    with pytest.raises(BadInput, match="is there already"):
        init("shop", *given)
    assert (here / "shop" / "workload.yaml").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("name", "path", "sentence"),
    [("My Shop", "/", "no name of a workload"), ("shop", "health", "has to begin with /")],
)
def test_names_and_paths_are_checked_before_anything_is_written(
    here: Path, name: str, path: str, sentence: str
) -> None:
    with pytest.raises(BadInput, match=sentence):
        init(name, "--start", "serve 8000", "--port", "8000", "--path", path)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("is_there", [False, True])
def test_what_the_loader_refuses_leaves_nothing(here: Path, is_there: bool) -> None:
    if is_there:
        (here / "shop").mkdir()
    with pytest.raises(BadInput, match="y"):
        init("shop", "--start", "serve 8000", "--port", "8000", "--path", "/a${y}")
    assert list(here.rglob("*")) == ([here / "shop"] if is_there else [])


def test_a_folder_that_cannot_be_made_is_named(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = ("--start", "serve 8000", "--port", "8000", "--path", "/")
    (here / "shop").write_text("mine", encoding="utf-8")
    with pytest.raises(
        BadInput, match=r"the folder shop cannot be made \(File exists\): choose another name"
    ):
        init("shop", *given)
    assert (here / "shop").read_text(encoding="utf-8") == "mine"

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(BadInput, match=r"the folder store cannot be made \(Permission denied\)"):
        init("store", *given)


def test_a_file_that_cannot_be_written_leaves_no_folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    with pytest.raises(NoSpace, match=r"shop/workload\.yaml"):
        init("shop", "--start", "serve 8000", "--port", "8000", "--path", "/")
    assert list(here.iterdir()) == []


def test_who_made_it_is_not_asked_whether_to_trust_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted: list[Path] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "keep_trust", trusted.append)
    init("shop", "--start", "serve 8000", "--port", "8000", "--path", "/")
    assert trusted == [Path("shop/workload.yaml")]
    assert not is_trusted(tmp_path / trusted[0], are_of_checkout)
