"""The rule that a skip in CI must be an allowed one, tried on small sessions of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).resolve().parents[1] / "conftest.py"
SKIPS_WITH = """
'''A test that skips.'''
import pytest

def test_skips():
    pytest.skip({reason!r})
"""


def run_session(folder: Path, reason: str, ci: str) -> subprocess.CompletedProcess[str]:
    """Run one test that skips, under our conftest, in a checkout of its own."""
    tests = folder / "tests"
    tests.mkdir()
    (tests / "conftest.py").write_text(CONFTEST.read_text(encoding="utf-8"), encoding="utf-8")
    (tests / "allowed_skips.toml").write_text('"listed reason" = "why"\n', encoding="utf-8")
    (tests / "test_one.py").write_text(SKIPS_WITH.format(reason=reason), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(folder),
        str(tests),
    ]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, "CI": ci}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("reason", "ci", "exit_code"),
    [("listed reason", "true", 0), ("some other reason", "true", 1), ("some other reason", "", 0)],
)
def test_an_unlisted_skip_fails_in_ci_only(tmp_path: Path, reason: str, ci: str, exit_code: int) -> None:
    session = run_session(tmp_path, reason, ci)
    assert session.returncode == exit_code, session.stdout
    assert ("does not list this reason: some other reason" in session.stdout) == (exit_code == 1)
