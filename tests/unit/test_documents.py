"""What the documents promise exists. Reads text only."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from controller.policy import engine, guards

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
GUIDES = tuple(f"docs/guide/{path.name}" for path in sorted((ROOT / "docs" / "guide").glob("*.md")))
DECISIONS = ROOT / "docs" / "decisions"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", _read(ROOT / "Makefile"), re.MULTILINE))


@pytest.mark.parametrize("document", [*DOCUMENTS, *GUIDES])
def test_every_make_target_named_in_a_document_exists(document: str) -> None:
    named = set(re.findall(r"(?:`|^|, )make ([a-z-]+)", _read(ROOT / document), re.MULTILINE))
    assert named <= _targets()


@pytest.mark.parametrize("document", [*DOCUMENTS, *GUIDES, "docs/decisions/README.md"])
def test_every_link_inside_the_repository_leads_somewhere(document: str) -> None:
    path = ROOT / document
    links = re.findall(r"\]\((?!https?:)([^)#]+)", _read(path))
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_every_decision_is_listed_and_has_its_four_parts() -> None:
    pages = sorted(DECISIONS.glob("[0-9]*.md"))
    assert [page.name for page in pages if f"({page.name})" not in _read(DECISIONS / "README.md")] == []
    for page in pages:
        assert re.findall(r"^## (.+)$", _read(page), re.MULTILINE) == [
            "Problem",
            "Decision",
            "Why not",
            "Costs",
        ]


def test_the_guide_names_every_refusal_in_the_order_in_which_they_are_asked() -> None:
    rooms = ("", ".guard", ".lend", ".quota")
    shipped = [import_module(f"controller.policy.strategies{room}") for room in rooms]
    before = inspect.getsource(guards.on_trial) + "".join(inspect.getsource(module) for module in shipped)
    asked = "".join(inspect.getsource(guard) for guard in guards.GUARDS)
    text = re.sub(r'f"MODE_\{[^"]*"', '"MODE_OBSERVE"', before + asked + inspect.getsource(engine))
    written = re.findall(r'(?:Refusal|NoProposal)\(\s*(?:finding, )?"([A-Z_]+)"', text)
    codes = list(dict.fromkeys(written))
    assert len(codes) > 20
    guide = _read(ROOT / "docs" / "guide" / "steering.md")
    listed = guide[guide.index("Guards answer in a fixed order") : guide.index("The intent goes into the ledger")]
    assert re.findall(r"`([A-Z_]+)`", listed) == codes
