"""Parts are pinned, found again in the cache under one key, and started after what they need."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.testbed.api import collection_path
from tests.testbed.bed import NEEDS, UnknownPart, start_order
from tests.testbed.build import BuildFailed, cache_key, cache_root, copy_files, find
from tests.testbed.parts import GO_PARTS, DebianPart, GoPart, PartMissing, pinned_version, required_go
from tests.testbed.place import Place
from tests.testbed.toolchain import parse_release

GO_MOD = "module x\n\ngo 1.25.0\n\nrequire (\n\texample.com/part v1.2.3 // indirect\n\texample.com/part/v2 v2.0.1\n)\n"


def test_every_go_part_pins_its_module() -> None:
    assert {name: part.version for name, part in GO_PARTS.items()} == {
        "etcd": "v3.6.8",
        "kwok": "v0.8.0",
        "kubernetes": "v1.35.4",
        "kueue": "v0.17.0",
        "helm": "v4.3.2",
    }


def test_a_version_is_that_of_the_module_and_of_no_longer_path() -> None:
    assert pinned_version(GO_MOD, "example.com/part") == "v1.2.3"
    assert required_go(GO_MOD) == (1, 25)
    with pytest.raises(PartMissing, match="does not require example"):
        pinned_version(GO_MOD, "example.com/other")


def test_kubernetes_is_told_its_version_by_the_linker() -> None:
    flags = GO_PARTS["kubernetes"].linker_flags
    assert flags.startswith("-s -w ")
    assert "-X k8s.io/component-base/version.gitVersion=v1.35.4" in flags
    assert flags.endswith("gitMinor=35")


def test_the_cache_is_keyed_by_version_and_go_release() -> None:
    assert cache_key(GO_PARTS["kwok"], "go1.26.8") == "kwok-v0.8.0-go1.26.8"
    assert cache_root({"XDG_CACHE_HOME": "/c", "HOME": "/h"}) == Path("/c/trimtab-testbed")
    assert cache_root({"XDG_CACHE_HOME": "", "HOME": "/h"}) == Path("/h/.cache/trimtab-testbed")


def test_a_build_that_lacks_a_file_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("tests.testbed.build.find_toolchain", lambda oldest: None)
    part = GoPart("etcd", "go.etcd.io/etcd/server/v3", {"no-such-program": "x"}, files=("stages/*.yaml",))
    folder = tmp_path / "trimtab-testbed" / cache_key(part, "go1.26.0")
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "no-such-program").touch()
    assert find(part) is None
    (folder / "files" / "stages").mkdir(parents=True)
    (folder / "files" / "stages" / "a.yaml").touch()
    found = find(part)
    assert found is not None
    assert found.binary("no-such-program") == folder / "bin" / "no-such-program"


def test_a_file_that_the_module_does_not_hold_fails_the_build(tmp_path: Path) -> None:
    with pytest.raises(BuildFailed, match="kwok: kustomize"):
        copy_files(GO_PARTS["kwok"], tmp_path, tmp_path / "staged")


def test_a_missing_debian_part_says_what_to_install() -> None:
    with pytest.raises(PartMissing, match="apt-get install --no-install-recommends some-package"):
        DebianPart("part", ("no-such-program",), "some-package").binary("no-such-program")


@pytest.mark.parametrize(("release", "version"), [("go1.26.8", (1, 26)), ("go1.27rc1", (1, 27)), ("go2.0", (2, 0))])
def test_a_go_release_reads(release: str, version: tuple[int, int]) -> None:
    assert parse_release(release) == version


def test_a_part_starts_after_what_it_needs_and_once() -> None:
    assert start_order(["kueue", "kwok"]) == ["kubernetes", "kueue", "kwok"]
    for number, name in enumerate(NEEDS):
        assert set(NEEDS[name]) <= set(list(NEEDS)[:number])
    with pytest.raises(UnknownPart, match="no part 'slurm'"):
        start_order(["slurm"])


def test_ports_are_chosen_once_and_differ(tmp_path: Path) -> None:
    place = Place(tmp_path / "part", tethered=True)
    ports = [place.port(name) for name in ("a", "b", "c")]
    assert len(set(ports)) == 3
    assert [Place(tmp_path / "part", tethered=True).port(name) for name in ("a", "b", "c")] == ports


@pytest.mark.parametrize(
    ("api_version", "kind", "namespace", "path"),
    [
        ("v1", "Pod", "a", "/api/v1/namespaces/a/pods"),
        ("batch/v1", "Job", None, "/apis/batch/v1/jobs"),
        ("scheduling.k8s.io/v1", "PriorityClass", None, "/apis/scheduling.k8s.io/v1/priorityclasses"),
        ("networking.k8s.io/v1", "NetworkPolicy", "a", "/apis/networking.k8s.io/v1/namespaces/a/networkpolicies"),
        ("kueue.x-k8s.io/v1beta2", "LocalQueue", "a", "/apis/kueue.x-k8s.io/v1beta2/namespaces/a/localqueues"),
    ],
)
def test_a_kind_has_one_place_in_the_api(api_version: str, kind: str, namespace: str | None, path: str) -> None:
    assert collection_path(api_version, kind, namespace) == path
