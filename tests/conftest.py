"""Rules of every test run: order, time limits, allowed skips, real captures. No fixture of one room."""

from __future__ import annotations

import os
import signal
import tomllib
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ["tests.testbed.fixtures"]

ROOT = Path(__file__).resolve().parent.parent
ALLOWED_SKIPS_FILE = ROOT / "tests" / "allowed_skips.toml"
# Cheap and exact first: what fails there need not be read out of an end-to-end log.
ORDER = ("unit", "property", "golden", "integration", "e2e", "benchmarks")
END_TO_END_TIMEOUT_SECONDS = 1800

settings.register_profile("default", deadline=None, print_blob=True)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.register_profile(
    "fuzz", settings.get_profile("default"), max_examples=int(os.environ.get("TRIMTAB_FUZZ_EXAMPLES", "2000"))
)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "default")


def pytest_configure() -> None:
    """Let the programs that tests start hear signals, also below `nohup` or `&`: what we ignore they would inherit."""
    for number in (signal.SIGHUP, signal.SIGINT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def _stage(item: pytest.Item) -> int:
    folder = item.path.relative_to(ROOT / "tests").parts[0]
    return ORDER.index(folder) if folder in ORDER else len(ORDER)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the stages in order, and give whole stories more time than other tests."""
    items.sort(key=_stage)  # stable: the order inside a stage stays
    for item in items:
        if _stage(item) == ORDER.index("e2e"):
            item.add_marker(pytest.mark.e2e)
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(END_TO_END_TIMEOUT_SECONDS))


def _allowed_skips() -> dict[str, str]:
    return tomllib.loads(ALLOWED_SKIPS_FILE.read_text(encoding="utf-8"))


def _fail_unlisted_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """With CI=true a skip is a failure unless its reason is listed: what cannot run must not look tested."""
    if os.environ.get("CI") != "true" or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    reason = reason.removeprefix("Skipped: ")
    if reason not in _allowed_skips():
        report.outcome = "failed"
        report.longrepr = f"skipped, but {ALLOWED_SKIPS_FILE.name} does not list this reason: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Judge the skip of a single test."""
    report = yield
    _fail_unlisted_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Judge the skip of a whole module."""
    report = yield
    _fail_unlisted_skip(report)
    return report


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """Give the folder of real captures and traces, read only: TRIMTAB_SHARED, else `shared` beside us."""
    folder = Path(os.environ.get("TRIMTAB_SHARED") or ROOT.parent / "shared")
    if not (folder / "fixtures").is_dir():
        pytest.skip("shared fixtures absent")
    return folder
