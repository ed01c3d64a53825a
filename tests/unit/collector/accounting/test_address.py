"""Where a history is kept, out of what people write."""

from __future__ import annotations

import pytest

from collector.accounting.address import read_address, shown


@pytest.mark.parametrize(
    ("address", "kept", "told_as"),
    [
        ("history.db", "sqlite:///history.db", "history.db"),
        ("sqlite:////var/lib/h.db", "sqlite:////var/lib/h.db", "/var/lib/h.db"),
        ("postgres://u:s3cret@db/t", "postgresql+psycopg://u:***@db/t", "postgresql://u:***@db/t"),
        ("postgresql://u@db:5433/t?sslmode=require", None, "postgresql://u@db:5433/t"),
    ],
)
def test_addresses_are_files_or_urls_and_shown_without_password(address: str, kept: str | None, told_as: str) -> None:
    url = read_address(address)
    assert kept in (None, url.render_as_string(hide_password=True))
    assert shown(url) == told_as


@pytest.mark.parametrize(
    "address", ["", "mysql://u@h/d", "postgresql://host", "sqlite://", "postgresql://h:x/d", "://"]
)
def test_an_address_that_is_none_says_what_was_expected(address: str) -> None:
    with pytest.raises(ValueError, match="a file such as"):
        read_address(address)
