"""The verb `collect` on addresses that answer, answer badly, or do not answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from controller.cli.main import run
from tests.integration.bad_exporters import bad_exporters


@contextmanager
def exporter(*texts: str) -> Iterator[str]:
    """Answers with one text after the other."""
    answers = iter(texts)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = next(answers).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/metrics"
        server.shutdown()


def violation(nanoseconds: int) -> str:
    return f'DCGM_FI_DEV_POWER_VIOLATION{{gpu="0",UUID="GPU-a"}} {nanoseconds}\n'


def test_an_answer_that_ends_inside_a_line_is_read_but_for_that_line(capsys: pytest.CaptureFixture[str]) -> None:
    with exporter('DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-a"} 40\nDCGM_FI_DEV_GPU_TEMP{gpu="1",UU') as url:
        assert run(["collect", "--from", url, "-o", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["samples"] == {"read": 2, "used": 1, "passed": 0, "dropped": {"truncated line": 1}}
    assert all(reading["time"] for reading in answer["readings"])


def test_two_looks_tell_the_share_of_throttled_time(capsys: pytest.CaptureFixture[str]) -> None:
    with exporter(violation(10**9), violation(10**9 + 10**5)) as url:
        assert run(["collect", "--from", url, "--again", "50ms", "-o", "json"]) == 0
    readings = {one["name"]: one["value"] for one in json.loads(capsys.readouterr().out)["readings"]}
    assert 0 < readings["trimtab_accelerator_throttle_ratio"] < 0.01


@pytest.mark.parametrize(("path", "code"), [("/good", 0), ("/404", 3), ("/html", 2), ("/empty", 2), ("/hang-up", 3)])
def test_what_answers_badly_ends_in_words_and_its_code(
    path: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with bad_exporters() as address:
        assert run(["collect", "--from", address + path]) == code
    said = capsys.readouterr().err
    assert said
    assert "Errno" not in said
