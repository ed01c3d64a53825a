"""Where a demonstration can be watched."""

from __future__ import annotations

import pytest

from controller.demo.performance import page_url


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://127.0.0.1:8080"),
        ("10.0.0.1", "http://10.0.0.1:8080"),
        ("::1", "http://[::1]:8080"),
    ],
)
def test_the_page_has_an_address_that_a_browser_and_alertmanager_understand(host: str, url: str) -> None:
    assert page_url(host, 8080) == url
