"""The Containerfile, read as text: no engine builds it here. Pinned, from the lock, without root or a compiler."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8")
INSTRUCTIONS = [
    (word, rest.strip())
    for line in re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", TEXT, flags=re.MULTILINE)).splitlines()
    if line.strip()
    for word, _, rest in [line.partition(" ")]
]
LAST_STAGE = INSTRUCTIONS[max(number for number, (word, _) in enumerate(INSTRUCTIONS) if word == "FROM") :]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def of(word: str, instructions: list[tuple[str, str]] = INSTRUCTIONS) -> list[str]:
    """The arguments of an instruction, in order."""
    return [rest for name, rest in instructions if name == word]


def test_only_known_instructions_stand_in_it() -> None:
    assert {word for word, _ in INSTRUCTIONS} <= {
        "FROM",
        "ENV",
        "WORKDIR",
        "COPY",
        "RUN",
        "LABEL",
        "USER",
        "ENTRYPOINT",
    }


def test_every_stage_starts_from_the_reference_python_without_a_registry_in_its_name() -> None:
    bases = {rest.split()[0] for rest in of("FROM")}
    assert bases == {"python:3.11-slim"}


def test_everything_installed_is_pinned_by_hash_or_our_own_wheel() -> None:
    installs = [one.strip() for run in of("RUN") for one in run.split("&&") if " install " in one]
    assert len(installs) == 3
    for install in installs:
        from_lock = "--require-hashes" in install and re.search(r"-r requirements/\w+\.txt$", install)
        own_wheel = "--no-index" in install and "--no-deps" in install and install.endswith("/dist/trimtab-*.whl")
        assert from_lock or own_wheel, install


def test_all_that_is_copied_is_there_and_every_package_is_copied() -> None:
    copied = {source for rest in of("COPY") if "--from" not in rest for source in rest.split()[:-1]}
    assert all((ROOT / source).exists() for source in copied)
    assert set(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) <= copied
    assert {PROJECT["project"]["readme"], *PROJECT["project"]["license-files"]} <= copied


def test_the_last_stage_runs_trimtab_as_nobody_and_builds_nothing() -> None:
    assert of("USER", LAST_STAGE) == ["65532:65532"]
    assert of("ENTRYPOINT", LAST_STAGE) == ['["trimtab"]']
    assert of("RUN", LAST_STAGE) == []
    assert all("--from=build" in rest for rest in of("COPY", LAST_STAGE))
    assert "trimtab" in PROJECT["project"]["scripts"]


def test_the_lock_of_the_build_holds_what_the_build_asks_for() -> None:
    pinned = re.findall(r"^([a-z-]+)==\S+ \\$", (ROOT / "requirements" / "build.txt").read_text(), re.MULTILINE)
    wanted = {re.split(r"[<>=]", requirement)[0] for requirement in PROJECT["build-system"]["requires"]}
    assert wanted <= set(pinned)
