"""Quota files: nodes or GPUs, tiers, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.api.errors import InputError
from controller.simulate.shares import Share
from controller.traces.quota_file import read_quotas


def quotas(folder: Path, text: str) -> tuple[Share, ...]:
    path = folder / "quotas.csv"
    path.write_text(text, encoding="utf-8")
    return read_quotas(path)


def test_nodes_and_gpus_are_understood(tmp_path: Path) -> None:
    assert quotas(tmp_path, "vc,node num\na,4\n") == (Share("a", 8, 24),)
    assert quotas(tmp_path, "gpus,tenant\n4,a\n") == (Share("a", 4),)


def test_everything_about_a_tenant_can_be_said(tmp_path: Path) -> None:
    text = "tenant,gpus,guarantee,burst,ceiling,tier,rank\na,64,16,128,256,critical,100\n"
    assert quotas(tmp_path, text) == (Share("a", 16, 48, 128, 256, "critical", 100),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tenant,gpus\n", "got no tenant, expected a line"),
        ("tenant,gpus\n,8\n", r"quotas.csv:2: got no tenant"),
        ("tenant,gpus\na,\n", r"quotas.csv:2: got no quota"),
        ("tenant,gpus\na,-8\n", r"quotas.csv:2: gpus: got -8, expected a whole number"),
        ("tenant,gpus\na,8\na,8\n", r"quotas.csv:3: got a, expected each tenant once"),
        ("tenant,gpus,rank\na,8,high\n", r"quotas.csv:2: rank: got high"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        quotas(tmp_path, text)
