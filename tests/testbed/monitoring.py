"""Prometheus and Alertmanager as Debian packages them, with short intervals and a configuration that tests replace."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import urllib3
import yaml

from controller.demo.processes import Service, answers, wait_until
from tests.testbed.parts import ALERTMANAGER, PROMETHEUS
from tests.testbed.place import Place

_HTTP = urllib3.PoolManager(retries=False, timeout=urllib3.Timeout(total=60.0))


class ConfigurationRefused(ValueError):
    """Prometheus or Alertmanager did not take a configuration; the message is its own."""


@dataclass(frozen=True)
class ScrapeTarget:
    """One address to scrape. `labels` are set on every series; with a token comes the certificate to trust."""

    job: str
    url: str
    labels: Mapping[str, str] = field(default_factory=dict)
    token: str | None = None
    authority: Path | None = None
    honor_labels: bool = True
    """Labels in the scraped text win: an exporter speaks about other pods. Else they become `exported_…`."""

    def configuration(self) -> dict[str, Any]:
        """The entry of `scrape_configs`."""
        address = urlsplit(self.url)
        entry: dict[str, Any] = {
            "job_name": self.job,
            "honor_labels": self.honor_labels,
            "scheme": address.scheme,
            "metrics_path": address.path or "/metrics",
            "static_configs": [{"targets": [address.netloc], "labels": dict(self.labels)}],
        }
        if self.token is not None:
            entry["authorization"] = {"credentials": self.token}
        if self.authority is not None:
            entry["tls_config"] = {"ca_file": str(self.authority)}
        return entry


class Prometheus:
    """A Prometheus server with an empty configuration until `configure` is called."""

    name = "prometheus"

    def __init__(self, place: Place) -> None:
        self._place = place
        self.service = place.service("prometheus", self._argv, lambda: answers(f"{self.url}/-/ready"))

    @property
    def services(self) -> Sequence[Service]:
        """Its one program."""
        return (self.service,)

    @property
    def addresses(self) -> Mapping[str, str]:
        """What `status` shows."""
        return {"url": self.url}

    @property
    def url(self) -> str:
        """Address of its API and pages."""
        return f"http://{self._place.address('prometheus')}"

    def start(self) -> None:
        """Starts it; its data survive a restart."""
        self.service.start()

    def stop(self) -> None:
        """Stops it."""
        self.service.stop()

    def configure(
        self,
        targets: Sequence[ScrapeTarget],
        rule_files: Sequence[Path] = (),
        alertmanager: Alertmanager | None = None,
        interval: str = "1s",
    ) -> None:
        """Replaces the configuration of the running server; scrapes and evaluates every `interval`.

        The rule files are copied, so that a later call alone changes what is in force. Raises ConfigurationRefused.
        """
        folder = self._place.folder / "rules"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for number, file in enumerate(rule_files):
            shutil.copyfile(file, folder / f"{number:02}-{file.name}")
        configuration: dict[str, Any] = {
            "global": {"scrape_interval": interval, "scrape_timeout": interval, "evaluation_interval": interval},
            "rule_files": [str(folder / "*")],
            "scrape_configs": [target.configuration() for target in targets],
        }
        if alertmanager is not None:
            address = urlsplit(alertmanager.url).netloc
            configuration["alerting"] = {"alertmanagers": [{"static_configs": [{"targets": [address]}]}]}
        self._place.write("prometheus.yml", yaml.safe_dump(configuration, sort_keys=False))
        _reload(self.url)

    def forget(self) -> None:
        """Deletes all it has stored: what earlier scrapes brought is seen for five minutes."""
        everything = urlencode({"match[]": '{__name__=~".+"}'})
        answer = _HTTP.request("POST", f"{self.url}/api/v1/admin/tsdb/delete_series?{everything}")
        if answer.status != 204:
            raise ValueError(f"Prometheus forgets nothing: {answer.data.decode()}")

    def query(self, promql: str) -> list[dict[str, Any]]:
        """The result of an instant query: a list of {"metric": {…}, "value": [time, "text"]}."""
        answer = _HTTP.request("POST", f"{self.url}/api/v1/query", fields={"query": promql}, encode_multipart=False)
        decoded = json.loads(answer.data)
        if decoded["status"] != "success":
            raise ValueError(f"{promql}: {decoded['error']}")
        return list(decoded["data"]["result"])

    def wait_for(self, promql: str, timeout_seconds: float = 180.0) -> list[dict[str, Any]]:
        """The first result of the query that is not empty; raises NotInTime."""
        wait_until(lambda: bool(self.query(promql)), f"a result of {promql}", timeout_seconds)
        return self.query(promql)

    def _argv(self) -> list[str]:
        configuration = self._place.folder / "prometheus.yml"
        if not configuration.exists():
            self._place.write(configuration.name, "{}\n")
        return [
            str(PROMETHEUS.binary("prometheus")),
            f"--config.file={configuration}",
            f"--storage.tsdb.path={self._place.folder / 'data'}",
            f"--web.listen-address={self._place.address('prometheus')}",
            f"--web.external-url={self.url}",
            "--web.enable-lifecycle",
            "--web.enable-admin-api",
            "--log.level=warn",
        ]


class Alertmanager:
    """An Alertmanager that keeps alerts to itself until `configure` names a webhook."""

    name = "alertmanager"

    def __init__(self, place: Place) -> None:
        self._place = place
        self.service = place.service("alertmanager", self._argv, lambda: answers(f"{self.url}/-/ready"))

    @property
    def services(self) -> Sequence[Service]:
        """Its one program."""
        return (self.service,)

    @property
    def addresses(self) -> Mapping[str, str]:
        """What `status` shows."""
        return {"url": self.url}

    @property
    def url(self) -> str:
        """Address of its API and pages."""
        return f"http://{self._place.address('alertmanager')}"

    def start(self) -> None:
        """Starts it."""
        self.service.start()

    def stop(self) -> None:
        """Stops it."""
        self.service.stop()

    def configure(
        self,
        webhook_url: str,
        bearer_token: str | None = None,
        group_by: Sequence[str] = ("alertname",),
        repeat_interval: str = "1h",
    ) -> None:
        """Sends every alert, firing and resolved, to one webhook within two seconds; raises ConfigurationRefused."""
        webhook: dict[str, Any] = {"url": webhook_url, "send_resolved": True}
        if bearer_token is not None:
            webhook["http_config"] = {"authorization": {"credentials": bearer_token}}
        route = {
            "receiver": "webhook",
            "group_by": list(group_by),
            "group_wait": "1s",
            "group_interval": "1s",
            "repeat_interval": repeat_interval,
        }
        self.load({"route": route, "receivers": [{"name": "webhook", "webhook_configs": [webhook]}]})

    def load(self, configuration: Mapping[str, Any]) -> None:
        """Replaces the whole configuration of the running server; raises ConfigurationRefused."""
        self._place.write("alertmanager.yml", yaml.safe_dump(dict(configuration), sort_keys=False))
        _reload(self.url)

    def alerts(self) -> list[dict[str, Any]]:
        """The alerts it holds now."""
        return list(json.loads(_HTTP.request("GET", f"{self.url}/api/v2/alerts").data))

    def _argv(self) -> list[str]:
        configuration = self._place.folder / "alertmanager.yml"
        if not configuration.exists():
            silent = {"route": {"receiver": "nobody"}, "receivers": [{"name": "nobody"}]}
            self._place.write(configuration.name, yaml.safe_dump(silent))
        return [
            str(ALERTMANAGER.binary("prometheus-alertmanager")),
            f"--config.file={configuration}",
            f"--storage.path={self._place.folder / 'data'}",
            f"--web.listen-address={self._place.address('alertmanager')}",
            f"--web.external-url={self.url}",
            "--cluster.listen-address=",  # alone: no gossip port
            "--log.level=warn",
        ]


def _reload(url: str) -> None:
    answer = _HTTP.request("POST", f"{url}/-/reload")
    if answer.status != 200:
        raise ConfigurationRefused(answer.data.decode().strip())
