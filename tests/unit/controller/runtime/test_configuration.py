"""Documents from files and folders; the last good ones stay in force."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.api.errors import InputError
from controller.api.policy import Mode
from controller.runtime.configuration import Configuration

POLICY = """\
apiVersion: trimtab.io/v1alpha1
kind: Policy
metadata: {name: default}
spec:
  mode: Observe
  tiers: [{name: standard, rank: 1}]
"""
TENANT = """\
apiVersion: trimtab.io/v1alpha1
kind: Tenant
metadata: {name: vision}
spec: {tier: standard, members: {namespaces: [vision]}}
"""


class _Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "tenants.yaml").write_text(TENANT, encoding="utf-8")
    return tmp_path


def test_a_folder_is_read_whole(folder: Path) -> None:
    (folder / "notes.txt").write_text("not read", encoding="utf-8")
    (folder / ".swap.yaml").write_text("not read", encoding="utf-8")
    documents = Configuration([folder], "north").load()
    assert documents.site.cluster == "north"
    assert [tenant.name for tenant in documents.site.tenants] == ["vision"]


def test_files_are_read_as_well(folder: Path) -> None:
    paths = [folder / "tenants.yaml", folder / "policy.yaml"]
    assert Configuration(paths).load() == Configuration([folder]).load()


def test_files_of_a_folder_are_read_in_order_of_their_names(folder: Path) -> None:
    (folder / "a.yaml").write_text(TENANT.replace("vision", "audio"), encoding="utf-8")
    assert [tenant.name for tenant in Configuration([folder]).load().site.tenants] == ["audio", "vision"]


def _mount_config_map(folder: Path, version: str, files: dict[str, str]) -> None:
    """Lay files out as kubelet does, and turn the link as it does for an update."""
    behind = folder / f"..{version}"
    behind.mkdir()
    for name, text in files.items():
        (behind / name).write_text(text, encoding="utf-8")
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(Path("..data") / name)
    (folder / "..tmp").symlink_to(behind.name)
    (folder / "..tmp").rename(folder / "..data")


def test_a_mounted_config_map_is_read_once_and_follows_its_updates(tmp_path: Path) -> None:
    _mount_config_map(tmp_path, "1", {"policy.yaml": POLICY, "tenants.yaml": TENANT})
    configuration = Configuration([tmp_path])
    assert configuration.load().policy.mode is Mode.OBSERVE
    changed = POLICY.replace("Observe", "Recommend")
    _mount_config_map(tmp_path, "2", {"policy.yaml": changed, "tenants.yaml": TENANT})
    documents, error = configuration.reload()
    assert error is None
    assert documents.policy.mode is Mode.RECOMMEND


def test_mistakes_in_a_mounted_config_map_name_the_file_as_mounted(tmp_path: Path) -> None:
    _mount_config_map(tmp_path, "1", {"policy.yaml": POLICY.replace("Observe", "Off")})
    with pytest.raises(InputError) as caught:
        Configuration([tmp_path]).load()
    assert caught.value.mistakes[0].place.startswith(f"{tmp_path / 'policy.yaml'}: document 1 (Policy default)")


def test_a_broken_edit_leaves_the_last_good_documents_in_force(folder: Path) -> None:
    configuration = Configuration([folder])
    good = configuration.load()
    (folder / "policy.yaml").write_text(POLICY.replace("rank: 1", "rank: x"), encoding="utf-8")
    documents, error = configuration.reload()
    assert documents is good
    assert error is not None
    assert error.mistakes[0].place.endswith("spec.tiers[0].rank")
    assert configuration.reload()[1] is not None
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    assert configuration.reload() == (good, None)


def test_a_file_that_vanishes_leaves_the_last_good_documents_in_force(folder: Path) -> None:
    configuration = Configuration([folder / "policy.yaml", folder / "tenants.yaml"])
    good = configuration.load()
    (folder / "tenants.yaml").unlink()
    documents, error = configuration.reload()
    assert documents is good
    assert error is not None
    assert error.mistakes[0].value == "no such file or folder"


def test_a_good_edit_is_taken_and_its_time_is_kept(folder: Path) -> None:
    clock = _Clock()
    configuration = Configuration([folder], clock=clock)
    configuration.load()
    clock.now = 200.0
    configuration.reload()
    assert configuration.in_force_since_seconds == 100.0
    (folder / "policy.yaml").write_text(POLICY.replace("Observe", "Enforce"), encoding="utf-8")
    documents, _ = configuration.reload()
    assert documents.policy.mode is Mode.ENFORCE
    assert configuration.in_force_since_seconds == 200.0


def test_without_any_good_documents_reload_raises(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a folder without \*\.yaml or \*\.yml files"):
        Configuration([tmp_path]).reload()


def test_every_file_that_can_not_be_read_is_named(folder: Path) -> None:
    (folder / "policy.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError) as caught:
        Configuration([folder, folder / "absent.yaml"]).load()
    assert [mistake.value for mistake in caught.value.mistakes] == [
        "bytes that are no UTF-8",
        "no such file or folder",
    ]


def test_files_ending_in_yml_are_read_as_well(folder: Path) -> None:
    (folder / "audio.yml").write_text(TENANT.replace("vision", "audio"), encoding="utf-8")
    assert [tenant.name for tenant in Configuration([folder]).load().site.tenants] == ["audio", "vision"]


def test_a_broken_link_and_a_folder_with_the_name_of_a_file_are_said_and_not_skipped(folder: Path) -> None:
    (folder / "linked.yaml").symlink_to(folder / "gone.yaml")
    (folder / "nested.yml").mkdir()
    with pytest.raises(InputError) as caught:
        Configuration([folder]).load()
    assert [(Path(one.place).name, one.value) for one in caught.value.mistakes] == [
        ("linked.yaml", "a link to a file that is not there"),
        ("nested.yml", "a folder"),
    ]


def test_a_byte_order_mark_is_no_part_of_the_text(folder: Path) -> None:
    good = Configuration([folder]).load()
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8-sig")
    assert Configuration([folder]).load() == good
