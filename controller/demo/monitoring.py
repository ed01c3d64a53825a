"""A real Prometheus and a real Alertmanager in a folder of their own, with the generated rules at the time scale.

Both are started with nothing to do; `watch` gives them their work once everything that they talk to is there. May not
leave anything running: the services are tied to this process, and stopped by `stop`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from alerts.render.alertmanager import alertmanager_document
from alerts.render.rules import prometheus_rules
from alerts.rules.groups import rule_groups
from collector.model.tenancy import Site
from controller.demo.processes import Service, answers, free_port

PACKAGES = ("prometheus", "prometheus-alertmanager")
_INSTALL = ("apt-get", "install", "-y", "--no-install-recommends", *PACKAGES)
_NOTHING = {"route": {"receiver": "nobody"}, "receivers": [{"name": "nobody"}]}


class ProgramsMissing(RuntimeError):
    """Prometheus or Alertmanager is not on this machine; the message says how to get it."""


@dataclass(frozen=True, slots=True)
class Programs:
    """Where the two programs are."""

    prometheus: str
    alertmanager: str


def find_programs() -> Programs | None:
    """Both programs, as Debian or as their makers call them; None when one is missing."""
    prometheus = shutil.which("prometheus")
    alertmanager = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
    return Programs(prometheus, alertmanager) if prometheus and alertmanager else None


def install_programs() -> Programs:
    """Install them where root may do so on Debian or Ubuntu. Raises ProgramsMissing with what to do instead."""
    command = " ".join(_INSTALL)
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise ProgramsMissing(
            f"Prometheus and Alertmanager are needed on PATH; on Debian or Ubuntu, as root: {command}"
        )
    # Their packages would start them as services; the demo starts its own.
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    subprocess.run(("apt-get", "-qq", "update"), env=environment, capture_output=True, check=False)
    done = subprocess.run(_INSTALL, env=environment, capture_output=True, text=True, check=False)
    found = find_programs()
    if found is None:
        raise ProgramsMissing(f"{command} did not help: {(done.stderr.strip() or done.stdout.strip())[-300:]}")
    return found


class Monitoring:
    """The two programs."""

    def __init__(self, programs: Programs, folder: Path) -> None:
        self._folder = folder
        prometheus_port, alertmanager_port = free_port(), free_port()
        self.prometheus_url = f"http://127.0.0.1:{prometheus_port}"
        self.alertmanager_url = f"http://127.0.0.1:{alertmanager_port}"
        prometheus = [
            programs.prometheus,
            f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'prometheus'}",
            f"--web.listen-address=127.0.0.1:{prometheus_port}",
            "--web.enable-lifecycle",
            "--log.level=warn",
        ]
        alertmanager = [
            programs.alertmanager,
            f"--config.file={folder / 'alertmanager.yml'}",
            f"--storage.path={folder / 'alertmanager'}",
            f"--web.listen-address=127.0.0.1:{alertmanager_port}",
            "--cluster.listen-address=",  # alone: no gossip port
            "--log.level=warn",
        ]
        self._services = (
            _service("prometheus", prometheus, folder, f"{self.prometheus_url}/-/ready"),
            _service("alertmanager", alertmanager, folder, f"{self.alertmanager_url}/-/ready"),
        )

    def start(self) -> None:
        """Start both with nothing to do; from the main thread. Raises ServiceFailed."""
        self._write("prometheus.yml", {})
        self._write("alertmanager.yml", _NOTHING)
        for service in self._services:
            service.start()

    def watch(self, targets: Mapping[str, str], site: Site, time_scale: float, doorbell: tuple[str, Path]) -> None:
        """Scrape `targets` (job → URL), evaluate the rules of the site, ring the doorbell (URL, file of its token)."""
        url, token_file = doorbell
        (self._folder / "rules.yaml").write_text(prometheus_rules(rule_groups(site, time_scale)))
        jobs = [_job(name, target, site.cluster) for name, target in targets.items()]
        alertmanagers = [{"static_configs": [{"targets": [self.alertmanager_url.removeprefix("http://")]}]}]
        document = {
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(self._folder / "rules.yaml")],
            "scrape_configs": jobs,
            "alerting": {"alertmanagers": alertmanagers},
        }
        self._write("alertmanager.yml", alertmanager_document(url, str(token_file), time_scale))
        self._write("prometheus.yml", document)
        for base in (self.alertmanager_url, self.prometheus_url):
            _reload(base)

    def died(self) -> str:
        """Which of the two ended by itself, with the end of its log; "" while both run."""
        dead = [service for service in self._services if not service.is_running()]
        return f"{dead[0].name} ended: {dead[0].log_tail(3)}" if dead else ""

    def stop(self) -> None:
        """Stop both."""
        for service in self._services:
            service.stop()

    def _write(self, name: str, document: Mapping[str, object]) -> None:
        (self._folder / name).write_text(yaml.safe_dump(dict(document), sort_keys=False))


def _service(name: str, argv: Sequence[str], folder: Path, ready: str) -> Service:
    return Service(name, lambda: argv, folder, lambda: answers(ready))


def _job(name: str, url: str, cluster: str) -> dict[str, object]:
    address, _, path = url.removeprefix("http://").partition("/")
    # Labels in the scraped text win: an exporter speaks about other pods.
    static = [{"targets": [address], "labels": {"cluster": cluster}}]
    return {"job_name": name, "honor_labels": True, "metrics_path": f"/{path}", "static_configs": static}


def _reload(base: str) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(f"{base}/-/reload", method="POST"), timeout=10.0):
        return
