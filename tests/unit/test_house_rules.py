"""Checks that no linter makes: sizes, purity, words never written. Reads text, imports nothing of ours."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("collector", "alerts", "dashboards", "controller", "tests")
MODULE_LINES = 400
FUNCTION_LINES = 60
LEAST_WAIT_SECONDS = 60
CLOCK_AND_CHANCE = {"now", "utcnow", "today", "uuid1", "uuid4", "getenv", "monotonic", "perf_counter"}
INPUT_AND_OUTPUT = {"open", "print", "input"}
NEVER_WRITTEN = re.compile(
    r"(pypi|pythonhosted)[.]org|deb[.]debian|proxy[.]golang|registry[.]npmjs|(?<![\w.])/(work|root|farm)/"
)

MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@cache
def _tool(name: str) -> Any:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][name]


@cache
def _pure_modules() -> list[Path]:
    contracts = {contract["name"]: contract for contract in _tool("importlinter")["contracts"]}
    rooms = contracts["the functional core does no I/O"]["source_modules"]
    folders = {folder for room in rooms for folder in ROOT.glob(room.replace(".", "/"))}
    return [path for path in MODULES if folders & set(path.parents)]


def _functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(_tree(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _called_name(node: ast.AST) -> str | None:
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name
    return None


def test_every_module_opens_with_its_role() -> None:
    assert [_name(path) for path in MODULES if not ast.get_docstring(_tree(path))] == []


def test_no_module_is_longer_than_the_house_allows() -> None:
    lengths = {_name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: length for name, length in lengths.items() if length > MODULE_LINES} == {}


def test_no_function_is_longer_than_the_house_allows() -> None:
    too_long = [
        f"{_name(path)}:{function.lineno} {function.name}"
        for path in MODULES
        for function in _functions(path)
        if (function.end_lineno or function.lineno) - function.lineno >= FUNCTION_LINES
    ]
    assert too_long == []


def test_pure_rooms_read_no_clock_no_chance_and_no_environment() -> None:
    calls = [
        f"{_name(path)}:{node.lineno} {_called_name(node)}()"
        for path in _pure_modules()
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.Call) and _called_name(node) in CLOCK_AND_CHANCE
    ]
    assert calls == []


def test_pure_rooms_do_no_input_or_output() -> None:
    calls = [
        f"{_name(path)}:{node.lineno} {node.func.id}()"
        for path in _pure_modules()
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in INPUT_AND_OUTPUT
    ]
    assert calls == []


def test_only_the_outermost_frames_may_swallow_everything() -> None:
    exempt = {name for name, rules in _tool("ruff")["lint"]["per-file-ignores"].items() if "BLE001" in rules}
    assert all((ROOT / name).is_file() for name in exempt), "each is one module, named"
    handlers = [
        f"{_name(path)}:{node.lineno}"
        for path in MODULES
        if _name(path) not in exempt
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.ExceptHandler) and _catches_everything(node) and not _raises_again(node)
    ]
    assert handlers == []


def _catches_everything(handler: ast.ExceptHandler) -> bool:
    names = (
        {part.id for part in ast.walk(handler.type) if isinstance(part, ast.Name)} if handler.type else {"Exception"}
    )
    return bool(names & {"Exception", "BaseException"})


def _raises_again(handler: ast.ExceptHandler) -> bool:
    match handler.body[-1]:
        case ast.Raise(exc=None):
            return True
    return False


def test_no_wait_of_the_tests_gives_up_before_a_slow_machine_is_ready() -> None:
    # A limit costs nothing until something is broken; a tight one fails a busy machine.
    tight = [
        f"{_name(path)}:{call.lineno}"
        for path in (ROOT / "tests").rglob("*.py")
        for call in ast.walk(_tree(path))
        if isinstance(call, ast.Call) and _called_name(call) in ("wait_until", "wait_for", "wait_ready")
        for limit in call.args[-1:]
        if isinstance(limit, ast.Constant) and isinstance(limit.value, int | float) and limit.value < LEAST_WAIT_SECONDS
    ]
    assert tight == []


def test_the_pure_rooms_are_found() -> None:
    assert {"collector/model/reading.py", "alerts/__init__.py"} <= {_name(path) for path in _pure_modules()}


def test_every_package_is_built_linted_and_typed() -> None:
    packages = sorted(name for name in PACKAGES if name != "tests" and (ROOT / name / "__init__.py").is_file())
    assert sorted(_tool("hatch")["build"]["targets"]["wheel"]["packages"]) == packages
    assert sorted(_tool("importlinter")["root_packages"]) == packages
    assert sorted(_tool("mypy")["files"]) == sorted([*packages, "tests"])
    assert all((ROOT / name / "py.typed").is_file() for name in packages)


def test_no_kept_file_names_a_registry_or_a_place_on_one_machine() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    list_files = ["git", "-c", "safe.directory=*", "ls-files", "-coz", "--exclude-standard"]
    listing = subprocess.run(list_files, cwd=ROOT, capture_output=True, text=True, check=True)
    found = []
    for name in filter(None, listing.stdout.split("\0")):
        path = ROOT / name
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        found += [f"{name}:{n}" for n, line in enumerate(text.splitlines(), 1) if NEVER_WRITTEN.search(line)]
    assert found == []


def test_the_version_has_its_entry_in_the_changelog() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert re.search(
        rf"^## \[{re.escape(version)}\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
