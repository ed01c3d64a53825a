"""The reference names each table and column of the schema, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from collector.accounting.schema.rows import State
from collector.accounting.tables import METADATA, MIGRATIONS

PAGE = Path(__file__).resolve().parents[4] / "docs" / "reference" / "accounting.md"


def test_every_table_and_column_has_its_line() -> None:
    text = PAGE.read_text(encoding="utf-8")
    chapters = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    told = {name: re.findall(r"^\| `(\w+)` \|", chapter, re.MULTILINE) for name, chapter in chapters.items()}
    assert told == {table.name: [column.name for column in table.columns] for table in METADATA.sorted_tables}
    assert all(f"`{state.value}`" in text for state in State)
    assert f"Schema version {len(MIGRATIONS)}," in text
