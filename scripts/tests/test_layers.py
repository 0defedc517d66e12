# SPDX-License-Identifier: Apache-2.0
"""The layers of docs/development.md: each imports only those below it, and the pure ones no engine."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import steelyard

PACKAGE = Path(steelyard.__file__).parent
LAYERS = [
    {"cli", "__main__"},
    {"selfcheck"},
    {"serve"},
    {"gate"},
    {"session"},
    {"report"},
    {"images"},
    {"build"},
    {"published"},
    {"engines"},
    {"sampling", "host"},
    {"analysis"},
    {"measure"},
    {"spec"},
    {"processes"},
    {"results"},
    {"experiment"},
    {"workload", "jvm", "recording"},
    {"yamlfile"},
    {"archives", "clock", "documented", "errors", "escape", "process_tree", "units", "paths", "regular"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("steelyard."):
            yield node.module.removeprefix("steelyard.")
        elif isinstance(node, ast.Import):
            yield from (
                a.name.removeprefix("steelyard.") for a in node.names if a.name.startswith("steelyard.")
            )


def test_each_layer_imports_only_those_below_it() -> None:
    seen, wrong = set(), []
    for path in sorted(PACKAGE.rglob("*.py")):
        layer = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if layer == "__init__":
            continue
        for module in imports(path):
            other = module.split(".")[0]
            seen.add(layer)
            # Packages side by side in a row may use each other's modules, as host and sampling do.
            if RANK[other] < RANK[layer]:
                wrong.append(f"{path.relative_to(PACKAGE)} imports {module}")
    assert not wrong
    assert {"cli", "session", "engines", "analysis"} <= seen


def test_what_reads_results_never_imports_an_engine() -> None:
    for layer in ("measure", "analysis", "report"):
        for path in (PACKAGE / layer).rglob("*.py"):
            assert not [module for module in imports(path) if module.startswith(("engines", "session"))], path


def test_pure_layers_start_nothing_and_ask_nobody() -> None:
    outside = {"subprocess", "socket", "http", "urllib", "psutil", "signal", "threading", "time"}
    for layer in ("measure", "analysis", "spec", "jvm", "experiment", "workload", "results"):
        for path in (PACKAGE / layer).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            used = {
                a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names
            }
            used |= {str(n.module).split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
            assert not used & outside, path


def test_the_command_line_starts_without_what_few_commands_need() -> None:
    code = "import sys, steelyard.cli.app; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PACKAGE.parent, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "steelyard.cli.run" in loaded
    assert not loaded & {"matplotlib", "scipy.stats", "scipy.optimize", "jinja2"}


def test_a_sampler_needs_the_standard_library_alone() -> None:
    """It runs in pods, and each package that it loads would be the dearest part of a short trial's samples."""
    code = "import sys, steelyard.sampling.__main__, steelyard.sampling.observe; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=PACKAGE.parent, capture_output=True, text=True, check=True
    )
    names = {name.partition(".")[0] for name in done.stdout.split()}
    assert names - {"__main__", "steelyard"} <= {*sys.stdlib_module_names, "__mp_main__"}
