"""The catalogue of parts: what each is made of and where its version is pinned. May not build or start anything."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_RECIPES = Path(__file__).with_name("parts")


class PartMissing(RuntimeError):
    """A part is not on this machine and cannot be had without help; the message says what to do."""


@dataclass(frozen=True)
class GoPart:
    """A part that is built from its Go module; go.mod and go.sum under parts/<name> pin every version.

    `binaries`: name of the file → Go package. `version_stamps`: linker variable → value, in which {version}, {major}
    and {minor} may stand. `files`: globs inside the module that the part needs at run time. `version_arguments`: what
    makes its programs say their version.
    """

    name: str
    module: str
    binaries: Mapping[str, str]
    version_stamps: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    version_arguments: tuple[str, ...] = ("--version",)

    @property
    def recipe(self) -> Path:
        """The folder with go.mod and go.sum."""
        return _RECIPES / self.name

    @property
    def version(self) -> str:
        """The pinned version, such as v1.35.4."""
        return pinned_version((self.recipe / "go.mod").read_text(), self.module)

    @property
    def go_version(self) -> tuple[int, int]:
        """The oldest Go release (major, minor) that builds it."""
        return required_go((self.recipe / "go.mod").read_text())

    @property
    def linker_flags(self) -> str:
        """Leaves out symbols and stamps the version where the program asks for that."""
        major, minor, _ = self.version.removeprefix("v").split(".", 2)
        values = {"version": self.version, "major": major, "minor": minor}
        stamps = (f"-X {name}={value.format(**values)}" for name, value in self.version_stamps.items())
        return " ".join(("-s -w", *stamps))


@dataclass(frozen=True)
class DebianPart:
    """A part that Debian and Ubuntu package: found on PATH, else installed by root with apt."""

    name: str
    binaries: tuple[str, ...]
    package: str
    folders: str = ""
    """Glob of folders that are looked into as well: some packages keep servers off PATH."""

    def binary(self, name: str) -> Path:
        """Where a program of the part is; raises PartMissing naming the package."""
        aside = sorted(Path("/").glob(f"{self.folders}/{name}")) if self.folders else []
        found = shutil.which(name) or (aside[-1] if aside else None)
        if found is None:
            raise PartMissing(
                f"{self.name}: no {name} on PATH; as root: apt-get install --no-install-recommends {self.package}"
            )
        return Path(found)


_KUBERNETES_VERSION = "k8s.io/component-base/version"

GO_PARTS = {
    part.name: part
    for part in (  # the cheap ones first: `build --all` goes in this order
        GoPart("etcd", "go.etcd.io/etcd/server/v3", {"etcd": "go.etcd.io/etcd/server/v3"}),
        GoPart(
            "kwok",
            "sigs.k8s.io/kwok",
            {"kwok": "sigs.k8s.io/kwok/cmd/kwok"},
            files=(
                "kustomize/stage/node/fast/node-initialize.yaml",
                "kustomize/stage/node/heartbeat/node-heartbeat.yaml",
                "kustomize/stage/pod/fast/pod-ready.yaml",
                "kustomize/stage/pod/fast/pod-delete.yaml",
            ),
        ),
        GoPart(
            "kubernetes",
            "k8s.io/kubernetes",
            {
                name: f"k8s.io/kubernetes/cmd/{name}"
                for name in ("kube-apiserver", "kube-scheduler", "kube-controller-manager", "kubectl")
            },
            {
                f"{_KUBERNETES_VERSION}.gitVersion": "{version}",
                f"{_KUBERNETES_VERSION}.gitMajor": "{major}",
                f"{_KUBERNETES_VERSION}.gitMinor": "{minor}",
            },
        ),
        GoPart(
            "kueue",
            "sigs.k8s.io/kueue",
            {"kueue": "sigs.k8s.io/kueue/cmd/kueue"},
            {"sigs.k8s.io/kueue/pkg/version.GitVersion": "{version}"},
            files=("config/components/crd/bases/*.yaml", "config/components/webhook/manifests.yaml"),
        ),
        GoPart(
            "helm",
            "helm.sh/helm/v4",
            {"helm": "helm.sh/helm/v4/cmd/helm"},
            {"helm.sh/helm/v4/internal/version.version": "{version}"},
            version_arguments=("version", "--short"),
        ),
    )
}

PROMETHEUS = DebianPart("prometheus", ("prometheus", "promtool"), "prometheus")
ALERTMANAGER = DebianPart("alertmanager", ("prometheus-alertmanager", "amtool"), "prometheus-alertmanager")
CEPH = DebianPart(
    "ceph",
    ("ceph-mon", "ceph-mgr", "ceph-osd", "ceph-mds", "ceph", "rbd", "monmaptool"),
    "ceph-mon ceph-mgr ceph-osd ceph-mds ceph-common python3-rados python3-rbd python3-cephfs",
)
OPENSSL = DebianPart("openssl", ("openssl",), "openssl")
POSTGRESQL = DebianPart("postgresql", ("initdb", "postgres"), "postgresql", "usr/lib/postgresql/*/bin")
UCX = DebianPart("ucx", ("ucx_perftest",), "ucx-utils")
IPROUTE = DebianPart("ucx", ("ip", "ss"), "iproute2")
IPERF = DebianPart("ucx", ("iperf3",), "iperf3")


def pinned_version(go_mod: str, module: str) -> str:
    """The version of a module in the text of a go.mod; raises PartMissing when it is not required there."""
    match = re.search(rf"^\s*(?:require\s+)?{re.escape(module)}\s+(v\S+)", go_mod, re.MULTILINE)
    if match is None:
        raise PartMissing(f"go.mod does not require {module}")
    return match.group(1)


def required_go(go_mod: str) -> tuple[int, int]:
    """The Go release (major, minor) that the text of a go.mod asks for."""
    match = re.search(r"^go (\d+)\.(\d+)", go_mod, re.MULTILINE)
    if match is None:
        raise PartMissing("go.mod names no Go release")
    return int(match.group(1)), int(match.group(2))
