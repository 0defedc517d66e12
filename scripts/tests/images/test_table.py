# SPDX-License-Identifier: Apache-2.0
import re
from pathlib import Path

import pytest

from steelyard.errors import BadInput
from steelyard.images.measure import resident, run_command
from steelyard.images.table import BEGIN, END, Row, Started, not_built, render, replaced
from steelyard.paths import ROOT

ROWS = [
    Row(
        "ping",
        "linux/amd64",
        250_400_000,
        98_700_000,
        4,
        Started((8.2, 7.9, 30.0), (200 << 20, 190 << 20, 210 << 20), False),
    ),
    Row("ping", "linux/ppc64le", 240_000_000, 97_000_000, 4, Started((47.2,), (460 << 20,), True)),
    Row("proxy", "linux/amd64", 9_400_000, 4_260_000, 2, None),
    not_built("jitserver", "linux/amd64"),
]


def test_a_row_says_what_was_measured_emulated_or_not_built() -> None:
    lines = render(ROWS, "Here and now.").splitlines()
    assert "| `ping` | linux/amd64 | 250 MB | 99 MB | 4 | 8.2 s | 200 MiB |" in lines
    assert "| `ping` | linux/ppc64le | 240 MB | 97 MB | 4 | 47.2 s (emulated) | 460 MiB (emulated) |" in lines
    assert "| `proxy` | linux/amd64 | 9.4 MB | 4.3 MB | 2 | - | - |" in lines
    assert "| `jitserver` | linux/amd64 | not built | - | - | - | - |" in lines
    assert len({line.count("|") for line in lines if line.startswith("|")}) == 1


def test_only_the_generated_part_of_the_page_is_replaced() -> None:
    page = f"# Images\n\nwords\n\n{BEGIN}\nold\n{END}\n\nmore\n"
    once = replaced(page, render(ROWS, "x"))
    assert once.startswith("# Images\n\nwords\n\n")
    assert once.endswith(f"{END}\n\nmore\n")
    assert "old" not in once
    assert replaced(once, render(ROWS, "x")) == once
    with pytest.raises(BadInput, match="take it from the repository again"):
        replaced("# Images", render(ROWS, "x"))


def test_the_page_names_every_target_of_the_bake_file() -> None:
    targets = re.findall(
        r'^target "([a-z0-9-]+)"',
        (ROOT / "images" / "docker-bake.hcl").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert {"ping-hotspot", "ping-openj9", "loadgen"} <= set(targets)
    generated = (
        (ROOT / "docs" / "images.md").read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    )
    for target in targets:
        assert f"| `{target}` |" in generated, (
            f"run `./steelyard images table`: {target} is not in docs/images.md"
        )


def test_a_server_is_measured_with_no_more_than_it_is_promised() -> None:
    command = run_command("r/ping@sha256:1", "linux/amd64", "n", foreign=False)
    assert {"--read-only", "--cpus", "--memory"} <= set(command)
    assert command[command.index("--cap-drop") + 1] == "ALL"
    assert "--memory" not in run_command("r/ping@sha256:1", "linux/ppc64le", "n", foreign=True)


def test_resident_memory_is_summed_and_ended_processes_count_nothing(tmp_path: Path) -> None:
    for pid, pages in ((7, 100), (8, 20)):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "statm").write_text(f"5000 {pages} 7 1 0 9 0\n", encoding="ascii")
    page = resident([7], tmp_path) // 100
    assert resident([7, 8, 9], tmp_path) == 120 * page
    assert page >= 4096
