"""Kubeconfigs with a flaw, and helpers that bring no credentials: said with the file, and nobody is asked."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from kubernetes.config.config_exception import ConfigException

from collector.sources.errors import CredentialsProblem
from collector.sources.kubernetes_api import connect
from collector.sources.kubernetes_helper import credentials_of
from controller.demo.processes import ProcessIdentity, wait_until
from tests.integration.fake_api_server import FakeApiServer, fake_api_server


@pytest.fixture
def server() -> Iterator[FakeApiServer]:
    with fake_api_server() as running:
        yield running


HELPER = "client.authentication.k8s.io/v1"
TOKEN = json.dumps({"apiVersion": HELPER, "kind": "ExecCredential", "status": {"token": "t"}})


def shell(script: str, **more: object) -> dict[str, object]:
    """A user whose helper is that script."""
    return {"exec": {"apiVersion": HELPER, "command": "sh", "args": ["-c", script], **more}}


@pytest.mark.parametrize(
    ("user", "words"),
    [
        (shell("echo first >&2; echo the login has expired >&2; exit 3"), "sh failed with exit code 3: the login has"),
        (shell("echo no JSON"), "printed no ExecCredential"),
        (shell("echo '[]'"), "printed no ExecCredential"),
        (shell(f"echo '{TOKEN.replace('/v1', '/v1beta1')}'"), "printed no ExecCredential of client"),
        (shell(f"echo '{TOKEN.replace('token', 'other')}'"), "neither a token nor a certificate"),
        (shell(f"echo '{TOKEN}'; exit 1"), "failed with exit code 1"),
        ({"exec": {"apiVersion": HELPER, "command": "no-such-helper", "installHint": "get it"}}, "started; get it"),
        ({"exec": {"apiVersion": HELPER}}, "names no command"),
    ],
)
def test_a_helper_that_brings_nothing_is_a_problem_and_not_an_anonymous_request(
    server: FakeApiServer, tmp_path: Path, user: dict[str, object], words: str
) -> None:
    with pytest.raises(CredentialsProblem, match=words):
        connect(server.kubeconfig(tmp_path, **user))
    assert server.asked == []


def test_a_helper_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    helper = shell(f"sleep 600 & echo $! > {tmp_path}/child; wait")["exec"]
    assert isinstance(helper, dict)
    with pytest.raises(ConfigException, match=r"sh gave no answer within 0\.5 s"):
        credentials_of(helper, "", {}, longest_seconds=0.5)
    child = int((tmp_path / "child").read_text())
    wait_until(lambda: ProcessIdentity.of(child) is None, "the end of the helper's child")


def test_a_helper_that_fails_leaves_nothing_running(tmp_path: Path) -> None:
    helper = shell(f"sleep 600 > /dev/null 2>&1 & echo $! > {tmp_path}/child; exit 1")["exec"]
    assert isinstance(helper, dict)
    with pytest.raises(ConfigException, match="exit code 1"):
        credentials_of(helper, "", {})
    child = int((tmp_path / "child").read_text())
    wait_until(lambda: ProcessIdentity.of(child) is None, "the end of the helper's child")


def test_a_helper_may_bring_a_certificate_that_must_fit_its_key(server: FakeApiServer, tmp_path: Path) -> None:
    status = {"clientCertificateData": "no certificate", "clientKeyData": "no key"}
    answer = json.dumps({"apiVersion": HELPER, "status": status})
    path = server.kubeconfig(tmp_path, **shell(f"echo '{answer}'"))
    path.write_text(path.read_text().replace("http:", "https:"))
    with pytest.raises(CredentialsProblem, match="client certificate and key are no pair in PEM form"):
        connect(path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("user: me", "user: nobody", "context fake names user nobody, who is not in it"),
        ("user: me", "namespace: x", "context fake names no user"),
        ("server:", "certificate-authority: /no/such/file\n    server:", "File does not exist: /no/such/file"),
        ("server:", "certificate-authority-data: YWJ\n    server:", "certificate or key data that is no base64"),
        ("server:", "certificate-authority-data: bm9uZQ==\n    server:", "certificate-authority holds no certificate"),
        ("current-context: fake", "current-context: [", "no YAML, from line"),
        ("current-context: fake", "current-context: other", "other"),
        ("users:", "users: 7\nmore:", "a document of another shape than a kubeconfig has"),
    ],
)
def test_a_flaw_in_a_kubeconfig_is_said_and_nobody_is_asked(
    server: FakeApiServer, tmp_path: Path, old: str, new: str, words: str
) -> None:
    path = server.kubeconfig(tmp_path, token="t")
    text = path.read_text().replace("http:", "https:")
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(CredentialsProblem) as caught:
        connect(path)
    assert words in str(caught.value)
    assert "Error" not in str(caught.value)


def test_a_kubeconfig_is_a_regular_file_in_utf_8(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    for path in (Path("/dev/zero"), tmp_path / "pipe", tmp_path):
        with pytest.raises(CredentialsProblem, match="no regular file"):
            connect(path)
    with pytest.raises(CredentialsProblem, match="bytes that are no UTF-8"):
        connect(tmp_path / "bytes")
