"""Helm 4 as a command: lints, renders, installs. Keeps its own files in its own folder, not in the user's home."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.testbed import build
from tests.testbed.api import Manifest
from tests.testbed.parts import GO_PARTS

Values = Mapping[str, Any]


class HelmRefused(RuntimeError):
    """Helm ended with an error; the message is what it said."""


@dataclass(frozen=True)
class Helm:
    """One chart, released under one name into one namespace. Without a kubeconfig it can only lint and render."""

    chart: Path
    folder: Path
    namespace: str
    release: str = "trimtab"
    kubeconfig: Path | None = None

    def lint(self, values: Values) -> str:
        """What helm says of the chart, warnings being errors. Raises HelmRefused."""
        return self._run("lint", "--strict", str(self.chart), *self._with(values))

    def render(self, values: Values) -> list[Manifest]:
        """The objects of the chart, hooks included. Raises HelmRefused."""
        return documents(self._run("template", *self._names, *self._with(values)))

    def notes(self, values: Values) -> str:
        """What the installer is told. Raises HelmRefused."""
        text = self._run("install", *self._names, "--dry-run=client", "--output=json", *self._with(values))
        return str(json.loads(text)["info"]["notes"])

    def install(self, values: Values, timeout_seconds: int = 240) -> None:
        """Install or upgrade, and wait until all pods are ready. Raises HelmRefused."""
        wait = ("--install", "--wait", f"--timeout={timeout_seconds}s")
        self._run("upgrade", *self._names, *wait, *self._with(values))

    def uninstall_command(self, timeout_seconds: int = 240) -> list[str]:
        """The command line that takes the release away and waits for it."""
        arguments = ("uninstall", self.release, f"--namespace={self.namespace}", "--wait")
        return [*self._command, *arguments, f"--timeout={timeout_seconds}s"]

    def uninstall(self) -> None:
        """Take the release away. Raises HelmRefused."""
        _say(self.uninstall_command(), self.environment)

    def remove(self) -> None:
        """Take away what is there, if anything, without asking its hooks: for the end of a test."""
        where = f"--namespace={self.namespace}"
        self._run("uninstall", self.release, where, "--no-hooks", "--ignore-not-found", "--wait")

    @property
    def environment(self) -> dict[str, str]:
        """The environment that helm is started with."""
        own = {f"HELM_{what}_HOME": str(self.folder / what.lower()) for what in ("CACHE", "CONFIG", "DATA")}
        return {**os.environ, **own, "KUBECONFIG": str(self.kubeconfig or self.folder / "no-kubeconfig")}

    @property
    def _command(self) -> list[str]:
        return [str(build.get(GO_PARTS["helm"]).binary("helm"))]

    @property
    def _names(self) -> tuple[str, ...]:
        return self.release, str(self.chart), f"--namespace={self.namespace}"

    def _with(self, values: Values) -> tuple[str, ...]:
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / "values.json"
        file.write_text(json.dumps(values))
        return ("--values", str(file))

    def _run(self, *arguments: str) -> str:
        return _say([*self._command, *arguments], self.environment)


def _say(command: Sequence[str], environment: Mapping[str, str]) -> str:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HelmRefused((done.stderr or done.stdout).strip())
    return done.stdout


def documents(text: str) -> list[Manifest]:
    """The objects of a YAML text, in order; empty documents are left out."""
    return [document for document in yaml.safe_load_all(text) if document]
