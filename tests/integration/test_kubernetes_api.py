"""The connection to an API server, against a fake that gives the answers which a real one gives only in trouble."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import certifi
import pytest
from kubernetes.config import incluster_config

from collector.sources.errors import (
    CredentialsProblem,
    Forbidden,
    Gone,
    Invalid,
    Malformed,
    NotFound,
    SourceError,
    Throttled,
    TimedOut,
    Unreachable,
)
from collector.sources.kubernetes_api import ApiLimits, KubernetesApi, connect
from collector.sources.kubernetes_identity import KubernetesIdentity
from tests.integration.fake_api_server import Answer, FakeApiServer, document, fake_api_server, status

PATH = "/api/v1/pods"


@pytest.fixture
def server() -> Iterator[FakeApiServer]:
    with fake_api_server() as running:
        yield running


@pytest.fixture
def pauses() -> list[float]:
    """How long the connection would have waited between its tries."""
    return []


@pytest.fixture
def api(server: FakeApiServer, tmp_path: Path, pauses: list[float]) -> Iterator[KubernetesApi]:
    limits = ApiLimits(
        read_seconds=5.0, answer_seconds=5.0, answer_bytes=100_000, event_bytes=1000, silence_seconds=3.0
    )
    api = KubernetesApi(KubernetesIdentity(server.kubeconfig(tmp_path, token="t1")), limits, pauses.append)
    yield api
    api.close()


def list_of(*names: str, following: str = "") -> Answer:
    return document({"metadata": {"resourceVersion": "7", "continue": following}, "items": list(names)})


def event(kind: str, version: str) -> bytes:
    return json.dumps({"type": kind, "object": {"metadata": {"resourceVersion": version}}}).encode() + b"\n"


def test_a_read_says_who_asks(server: FakeApiServer, api: KubernetesApi) -> None:
    server.scripts[PATH] = [document({"kind": "PodList"})]
    assert api.get(PATH, {"limit": 5}) == {"kind": "PodList"}
    (asked,) = server.asked
    assert asked.headers["Authorization"] == "Bearer t1"
    assert asked.query == {"limit": "5"}


def test_a_busy_server_is_asked_again_when_it_said(
    server: FakeApiServer, api: KubernetesApi, pauses: list[float]
) -> None:
    server.scripts[PATH] = [status(429, Retry_After="2"), document({"kind": "PodList"})]
    assert api.get(PATH) == {"kind": "PodList"}
    assert pauses == [2.0]


def test_a_server_that_stays_busy_is_asked_four_times_and_that_is_said(
    server: FakeApiServer, api: KubernetesApi
) -> None:
    server.scripts[PATH] = [status(429, "too many", Retry_After="1")]
    with pytest.raises(Throttled, match=r"GET /api/v1/pods: 429 Reason429: too many") as raised:
        api.get(PATH)
    assert str(raised.value).endswith("(tried 4 times)")
    assert raised.value.retry_after_seconds == 1.0
    assert len(server.asked) == 4


def test_a_wait_beyond_the_budget_is_not_waited_for(
    server: FakeApiServer, api: KubernetesApi, pauses: list[float]
) -> None:
    server.scripts[PATH] = [status(429, Retry_After="3600")]
    with pytest.raises(Throttled):
        api.get(PATH)
    assert (len(server.asked), pauses) == (1, [])


def test_a_server_in_trouble_is_asked_again_after_growing_pauses(
    server: FakeApiServer, api: KubernetesApi, pauses: list[float]
) -> None:
    server.scripts[PATH] = [status(500), status(503), Answer(body=(b'{"kin',), cut_off=True), document({"kind": "x"})]
    assert api.get(PATH) == {"kind": "x"}
    assert len(pauses) == 3
    assert 0.2 <= pauses[0] <= 0.6 < pauses[2]


@pytest.mark.parametrize(("code", "kind"), [(403, Forbidden), (404, NotFound), (410, Gone)])
def test_a_plain_refusal_is_not_asked_again(
    server: FakeApiServer, api: KubernetesApi, code: int, kind: type[SourceError]
) -> None:
    server.scripts[PATH] = [status(code)]
    with pytest.raises(kind):
        api.get(PATH)
    assert len(server.asked) == 1


def test_a_write_is_never_tried_again(server: FakeApiServer, api: KubernetesApi) -> None:
    server.scripts[PATH] = [status(503)]
    with pytest.raises(Unreachable):
        api.request("PATCH", PATH, {"spec": {}}, "application/apply-patch+yaml", {"fieldManager": "trimtab"})
    (asked,) = server.asked
    assert (asked.method, asked.body, asked.query) == ("PATCH", b'{"spec":{}}', {"fieldManager": "trimtab"})
    assert asked.headers["Content-Type"] == "application/apply-patch+yaml"


def test_the_body_of_a_write_is_in_no_error(server: FakeApiServer, api: KubernetesApi) -> None:
    server.scripts[PATH] = [status(422, "spec.x: invalid")]
    with pytest.raises(SourceError) as raised:
        api.request("PATCH", PATH, {"spec": "confidential"})
    assert "confidential" not in repr(raised.value) + str(raised.value)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b"{" * 100], ids=["empty", "html", "a list", "cut JSON"])
def test_an_answer_that_is_no_object_is_malformed(server: FakeApiServer, api: KubernetesApi, body: bytes) -> None:
    server.scripts[PATH] = [Answer(body=(body,) if body else ())]
    with pytest.raises(Malformed, match="no JSON object"):
        api.get(PATH)


def test_a_huge_answer_is_not_read_to_its_end(server: FakeApiServer, api: KubernetesApi) -> None:
    server.scripts[PATH] = [Answer(body=(b" " * 2**16, b" " * 2**16, server.over.wait))]
    with pytest.raises(Malformed, match="more than 100000 bytes"):
        api.get(PATH)


def test_an_answer_that_is_too_slow_ends_with_its_time(server: FakeApiServer, tmp_path: Path) -> None:
    api = KubernetesApi(KubernetesIdentity(server.kubeconfig(tmp_path)), ApiLimits(answer_seconds=0.1))
    drops = (b" " * 2**16, lambda: server.over.wait(0.08))
    server.scripts[PATH] = [Answer(body=drops * 100)]
    with pytest.raises(TimedOut, match="not complete in time"):
        api.request("GET", PATH)
    api.close()


def test_a_list_comes_in_pages(server: FakeApiServer, api: KubernetesApi) -> None:
    server.scripts[PATH] = [list_of("a", "b", following="more"), list_of("c")]
    pages = list(api.list_pages(PATH, limit=2))
    assert [page.items for page in pages] == [["a", "b"], ["c"]]
    assert [asked.query for asked in server.asked] == [{"limit": "2"}, {"limit": "2", "continue": "more"}]


def test_a_list_that_turns_in_a_circle_is_malformed(server: FakeApiServer, api: KubernetesApi) -> None:
    server.scripts[PATH] = [list_of("a", following="same")]
    with pytest.raises(Malformed, match="does not go on"):
        list(api.list_pages(PATH))


def test_an_empty_list_may_be_null(server: FakeApiServer, api: KubernetesApi) -> None:
    server.scripts[PATH] = [document({"metadata": {"resourceVersion": "7"}, "items": None})]
    assert [page.items for page in api.list_pages(PATH)] == [[]]


@pytest.mark.parametrize("answer", [{}, {"metadata": {}, "items": 1}, {"metadata": [], "items": []}])
def test_an_answer_that_is_no_list_is_malformed(server: FakeApiServer, api: KubernetesApi, answer: object) -> None:
    server.scripts[PATH] = [document(answer)]
    with pytest.raises(Malformed, match="no list of objects"):
        list(api.list_pages(PATH))


def test_events_come_whole_however_they_are_cut(server: FakeApiServer, api: KubernetesApi) -> None:
    first, second = event("ADDED", "8"), event("BOOKMARK", "9")
    server.scripts[PATH] = [Answer(body=(first[:5], first[5:] + second[:3], second[3:]))]
    events = list(api.watch(PATH, "7", 1))
    assert [(found.kind, found.resource_version) for found in events] == [("ADDED", "8"), ("BOOKMARK", "9")]
    (asked,) = server.asked
    assert asked.query == {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": "7",
        "timeoutSeconds": "1",
    }


def test_a_watch_that_hangs_in_silence_is_found_out(server: FakeApiServer, api: KubernetesApi) -> None:
    server.scripts[PATH] = [Answer(body=(event("ADDED", "8"), server.over.wait))]
    events = iter(api.watch(PATH, "7", 0))
    assert next(events).kind == "ADDED"
    with pytest.raises(TimedOut):
        next(events)


def test_a_watch_ends_from_another_thread(server: FakeApiServer, api: KubernetesApi) -> None:
    server.scripts[PATH] = [Answer(body=(event("ADDED", "8"), server.over.wait))]
    stream = api.watch(PATH, "7", 60)
    events = iter(stream)
    next(events)
    threading.Timer(0.05, stream.interrupt).start()
    with pytest.raises(SourceError):
        next(events)


def test_a_watch_that_is_cut_off_is_unreachable(server: FakeApiServer, api: KubernetesApi) -> None:
    server.scripts[PATH] = [Answer(body=(event("ADDED", "8"), b'{"type'), cut_off=True)]
    with pytest.raises(Unreachable):
        list(api.watch(PATH, "7", 1))


@pytest.mark.parametrize(
    "line", [b"no json\n", b"[]\n", b'{"type":"ADDED"}\n', b'{"type":"ADDED","object":1}\n', b"x" * 2000]
)
def test_a_line_that_is_no_event_is_malformed(server: FakeApiServer, api: KubernetesApi, line: bytes) -> None:
    server.scripts[PATH] = [Answer(body=(line,))]
    with pytest.raises(Malformed):
        list(api.watch(PATH, "7", 1))


def test_an_error_event_is_raised(server: FakeApiServer, api: KubernetesApi) -> None:
    line = json.dumps({"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired"}}).encode()
    server.scripts[PATH] = [Answer(body=(line + b"\n",))]
    with pytest.raises(Gone):
        list(api.watch(PATH, "7", 1))


def test_a_rejected_identity_is_read_anew_once(server: FakeApiServer, tmp_path: Path) -> None:
    token_file = tmp_path / "token"
    token_file.write_text("old")
    server.scripts[PATH] = [Answer(token="new")]
    api = connect(server.kubeconfig(tmp_path, tokenFile=str(token_file)))
    token_file.write_text("new")
    assert api.get(PATH) == {}
    token_file.write_text("wrong")
    server.scripts[PATH] = [Answer(token="newer")]
    with pytest.raises(Forbidden, match="401"):
        api.get(PATH)
    api.close()


def test_an_exec_plugin_brings_the_token(server: FakeApiServer, tmp_path: Path) -> None:
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": "from-plugin"},
    }
    plugin = {"apiVersion": credential["apiVersion"], "command": "echo", "args": [json.dumps(credential)]}
    server.scripts[PATH] = [Answer(token="from-plugin")]
    api = connect(server.kubeconfig(tmp_path, exec=plugin))
    assert api.get(PATH) == {}
    api.close()


def test_inside_a_pod_the_service_account_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token, authority = tmp_path / "token", tmp_path / "ca.crt"
    token.write_text("t")
    authority.write_text(Path(certifi.where()).read_text())
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(authority))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    assert connect().server == "https://10.0.0.1:443"
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST")
    with pytest.raises(CredentialsProblem, match=r"token: .*host/port is not set"):
        connect()


@pytest.mark.parametrize(
    "text", ["", "[1]", "a: b: c", "kind: Config", "current-context: x\ncontexts: []\nclusters: []\nusers: []"]
)
def test_a_kubeconfig_that_is_none_is_a_problem_that_names_the_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(text)
    with pytest.raises(CredentialsProblem, match="kubeconfig: gives no address and identity") as told:
        connect(path)
    assert "object" not in str(told.value).replace("Expected object", ""), "no words of Python"


def test_a_missing_kubeconfig_and_an_unknown_context_are_problems(server: FakeApiServer, tmp_path: Path) -> None:
    with pytest.raises(CredentialsProblem, match=r"nowhere: gives no address and identity: no such file$"):
        connect(tmp_path / "nowhere")
    with pytest.raises(CredentialsProblem, match="other"):
        connect(server.kubeconfig(tmp_path), "other")


@pytest.mark.parametrize(
    "path",
    ["/api/v1/namespaces/../../secrets", "/api/v1/./pods", "/api/v1//pods", "/api/v1/pods/", "api/v1/pods", "/.."],
)
def test_a_path_that_leads_elsewhere_is_never_asked_for(server: FakeApiServer, api: KubernetesApi, path: str) -> None:
    with pytest.raises(Invalid):
        api.get(path)
    assert server.asked == []


def test_the_signs_of_a_name_stay_in_its_part_of_the_path(server: FakeApiServer, api: KubernetesApi) -> None:
    with pytest.raises(NotFound):
        api.get("/api/v1/namespaces/a?b#c d%2e/pods")
    (asked,) = server.asked
    assert (asked.path, asked.query) == ("/api/v1/namespaces/a%3Fb%23c%20d%252e/pods", {})
