# SPDX-License-Identifier: Apache-2.0
"""Plain names: what a Python file declares that says nothing or is no verb, and expressions that hide a decision.

`python tests/checks/names.py PACKAGE ...` lists them, in `scripts`.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from steelyard.paths import ROOT

SCRIPTS = ROOT / "scripts"

FORBIDDEN = {
    **dict.fromkeys(
        ("found", "one", "told", "kind", "beside", "what", "whole", "away"), "name it for what it holds"
    ),
    **dict.fromkeys(("Flight", "flight", "flew", "flew_together"), "TrialRun, trial_run"),
    **dict.fromkeys(("Course", "course"), "Schedule, schedule"),
    "Found": "LoadedWorkload",
    "Runtimes": "RuntimeResolver",
    "fitted": "check_engine",
    "Reached": "HttpAccess",
    "Unit": "Handle",
    "Both": "CombinedDeployment",
    "WEIGHED": "MEASURED_ROLES",
    **dict.fromkeys(("look", "looks"), "interim, state or snapshot"),
    **dict.fromkeys(("say", "tell", "hear"), "send, acknowledge, commands"),
    "silence": "seconds_since_reply",
    "dying_with_us": "kill_with_parent",
    "signals_held": "defer_signals",
    "refuse_absurd": "check_fits_host",
    "require_alike": "check_uniform",
    "refuse_impossible": "check_duet",
    **dict.fromkeys(("foresee", "foreseen"), "predict, predicted"),
    **dict.fromkeys(("bring", "brings_up", "bring_up"), "install or start"),
    "take_down": "stop",
    **dict.fromkeys(("Where", "HERE"), "ClusterTarget, LOCAL"),
    "go_on": "resume",
    "told_to_end": "stop_requested",
}
"""Names of functions, classes, parameters, variables and attributes, and what stands in their place."""

PERSISTED = {
    "gate/certificate.py: Certificate.told": "a key of noise certificates",
    "results/gate.py: GateResult.beside": "a key of gate.json",
    "results/gate.py: GateResult.looks": "a key of gate.json",
    "jvm/identity.py: JvmIdentity.kind": "a key of session.json and trial.json",
    "results/measurement.py: ComponentResult.told": "a key of trial.json",
    "results/schema.py: GateTerms.looks": "a key of session.json",
    "results/spec.py: Component.kind": "a key of session.json",
}
"""Fields of models that are read and written under these names, by other versions as well."""

IRREGULAR = re.compile(
    "begun|bought|brought|broken|built|chosen|come|done|drawn|driven|fed|found|given|gone|grown|heard|held|hidden|"
    "kept|known|laid|left|lent|lost|made|meant|met|paid|said|seen|sent|shown|spent|spoken|stood|taken|thrown|told|"
    "understood|wound|written"
)
NO_PARTICIPLE = re.compile(
    "feed|finding|heading|listing|mapping|need|nothing|ping|seed|setting|speed|string|timing|warning"
)
ADJOINING = re.compile("at|back|by|for|from|in|into|of|off|on|out|since|to|together|up|when|with")
TRUTH = re.compile("all|any|are|has|have|is|not|was|were|why")
VERBS = re.compile(
    "add|check|collect|combine|count|fill|find|judge|keep|list|make|mark|note|print|read|refuse|remove|report|"
    "require|return|show|skip|stop|wait|watch|write"
)
REAL = {
    "trial_ended": "an event that listeners are told of",
    "trial_started": "the same",
    "running": "what a protocol asks of a record's field",
    "started": "the same",
}
"""Functions that end like participles and are plain."""


def is_participle_name(name: str) -> bool:
    """`chosen`, `processes_named`, `asked_at`; not `is_named`, `check_isolated`, `isolated_cpus`."""
    words = [word for word in name.lower().split("_") if word]
    if not words or name in REAL or TRUTH.fullmatch(words[0]) or VERBS.fullmatch(words[0]):
        return False
    return _is_participle(words[-1]) or (_is_participle(words[0]) and bool(ADJOINING.fullmatch(words[1])))


def _is_participle(word: str) -> bool:
    return bool(IRREGULAR.fullmatch(word)) or (
        word.endswith(("ed", "ing")) and not NO_PARTICIPLE.fullmatch(word)
    )


def faults(path: Path, source: str) -> list[str]:
    """Line and what is wrong with it, in order; `path` is below `scripts`."""
    tree = ast.parse(source)
    persisted = set(_persisted(path, tree))
    comments = {number for number, line in enumerate(source.splitlines(), start=1) if "# " in line}
    wrong = {
        (getattr(node, "lineno", 0), fault)
        for node in ast.walk(tree)
        if id(node) not in persisted
        for fault in (*bad_names(node), *hidden_decisions(node))
    }
    wrong |= {*untyped_joints(tree, comments)}
    return [f"{path}:{line}: {fault}" for line, fault in sorted(wrong)]


def _persisted(path: Path, tree: ast.AST) -> Iterator[int]:
    """Names of fields that stand in `PERSISTED`."""
    for model in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        for field in model.body:
            match field:
                case ast.AnnAssign(target=ast.Name(id=name) as target):
                    if f"{'/'.join(path.parts[1:])}: {model.name}.{name}" in PERSISTED:
                        yield id(target)


def bad_names(node: ast.AST) -> Iterator[str]:
    """What a node declares under a name that says nothing, or a function by a participle."""
    for name in declared(node):
        plain = name.strip("_")
        if plain in FORBIDDEN:
            yield f"{name}: {FORBIDDEN[plain]}"
        elif isinstance(node, ast.FunctionDef) and is_participle_name(name) and not _is_figure(node):
            yield f"{name}: a verb phrase, a noun or is_/has_ in the place of a participle"


def _is_figure(node: ast.FunctionDef) -> bool:
    """Named by the key of a record, where `measure` or pydantic writes what it returns."""
    makers = {"component_figure", "trial_figure", "computed_field"}
    calls = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    return any(ast.unparse(call) in makers for call in calls)


def declared(node: ast.AST) -> Iterator[str]:
    """The name that a node gives to something."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
            yield name
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.alias(asname=str(name)):
            yield name


def hidden_decisions(node: ast.AST) -> Iterator[str]:
    """A string times a truth value, and a conditional expression in another one."""
    match node:
        case ast.BinOp(op=ast.Mult(), left=text, right=times) if _is_text(text) and not _is_number(times):
            yield "a string times what is no number: write `if`"
        case ast.BinOp(op=ast.Mult(), left=times, right=text) if _is_text(text) and not _is_number(times):
            yield "a string times what is no number: write `if`"
        case ast.IfExp(body=body, orelse=orelse) if any(isinstance(n, ast.IfExp) for n in (body, orelse)):
            yield "a conditional expression in another one: write `if`"


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_number(node: ast.AST) -> bool:
    """As far as its form tells: a constant, arithmetic or a length."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int) and not isinstance(value, bool)
        case ast.Call(func=ast.Name(id=name)):
            return name in {"len", "max", "min"}
    return isinstance(node, ast.BinOp)


ANY_MAPPING = re.compile(r"(dict|Mapping)\[str, Any\]")


def untyped_joints(tree: ast.AST, comments: set[int]) -> Iterator[tuple[int, str]]:
    """Line and fault: `dict[str, Any]` or `Mapping[str, Any]` that modules hand on without a comment in its lines or
    above them. They do so by what has a public name: parameters and results, fields, constants, names of types."""
    scopes = (scope for scope in ast.walk(tree) if isinstance(scope, ast.Module | ast.ClassDef))
    for node in (node for scope in scopes for node in scope.body):
        match node:
            case ast.FunctionDef(name=name, args=args):
                arguments = [*args.posonlyargs, *args.args, *args.kwonlyargs]
                types = [*(argument.annotation for argument in arguments), node.returns]
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                lines = range(first - 1, node.body[0].lineno)
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                types, lines = [annotation], range(node.lineno - 1, (annotation.end_lineno or 0) + 1)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() as value):
                types, lines = [value], range(node.lineno - 1, node.lineno + 1)
            case _:
                continue
        is_public = not name.startswith("_") or name == "__init__"
        untyped = any(ANY_MAPPING.search(ast.unparse(type_)) for type_ in types if type_)
        if is_public and untyped and comments.isdisjoint(lines):
            yield node.lineno, f"{name}: dict[str, Any] between modules: a model, or a comment why not"


def packages() -> dict[str, list[Path]]:
    """Each package of the harness, each module beside them, and the suite; their files, below `scripts`."""
    files: dict[str, list[Path]] = {}
    for path in sorted([*SCRIPTS.glob("steelyard/**/*.py"), *SCRIPTS.glob("suite/*.py")]):
        below = path.relative_to(SCRIPTS)
        package = below.parts[0] if below.parts[0] == "suite" else below.parts[1].removesuffix(".py")
        files.setdefault(package, []).append(below)
    return files


def faults_of(files: list[Path]) -> list[str]:
    """Those of all files of a package."""
    return [fault for path in files for fault in faults(path, (SCRIPTS / path).read_text(encoding="utf-8"))]


def shared_names() -> dict[str, list[str]]:
    """Classes of one name: the files that declare them."""
    files: dict[str, list[str]] = {}
    for path in (path for paths in packages().values() for path in paths):
        for node in ast.walk(ast.parse((SCRIPTS / path).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                files.setdefault(node.name, []).append(str(path))
    return {name: paths for name, paths in sorted(files.items()) if len(paths) > 1}


if __name__ == "__main__":
    for package, paths in packages().items():
        if not sys.argv[1:] or package in sys.argv[1:]:
            print(*faults_of(paths), sep="\n")  # noqa: T201
    for shared, places in shared_names().items():
        print(f"class {shared}: {', '.join(places)}")  # noqa: T201
