"""Asks the collector of another node about probes: to serve one, to run some, or what it knows. Knows no verdicts.

Over http.client, since the node role loads no other client; the token goes to the address in the settings alone.
"""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Final

SERVE: Final = "/probe/serve"
RUN: Final = "/probe/run"
LINKS: Final = "/probe/links"
_MOST_BYTES: Final = 16 * 2**20


@dataclass(frozen=True, slots=True)
class PeerAnswer:
    """What it said; `problem`: why it said nothing."""

    status: int = 0
    document: object = None
    problem: str = ""

    @property
    def message(self) -> str:
        """For a person, in the peer's words or ours."""
        match self.document:
            case {"message": str(message)}:
                return message
        return self.problem or f"it answered {self.status}"


def ask_peer(
    address: str, port: int, path: str, token: str, body: object = None, *, seconds: float = 5.0
) -> PeerAnswer:
    """One request: POST with a body, else GET. Raises nothing for what a network or a peer may do."""
    connection = http.client.HTTPConnection(address, port, timeout=seconds)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    try:
        method, sent = ("GET", None) if body is None else ("POST", json.dumps(body))
        connection.request(method, path, sent, headers)
        answer = connection.getresponse()
        text = answer.read(_MOST_BYTES + 1)
    except TimeoutError:
        return PeerAnswer(problem=f"{address}:{port} did not answer within {seconds:g} s")
    except (OSError, http.client.HTTPException) as error:
        return PeerAnswer(problem=f"{address}:{port} does not answer: {_in_words(error)}")
    finally:
        connection.close()
    if len(text) > _MOST_BYTES:
        return PeerAnswer(problem=f"{address}:{port} sent more than {_MOST_BYTES // 2**20} MiB")
    try:
        return PeerAnswer(answer.status, json.loads(text))
    except ValueError:
        return PeerAnswer(
            answer.status, problem=f"{address}:{port} answered {answer.status} with something else than JSON"
        )


def _in_words(error: Exception) -> str:
    match error:
        case ConnectionRefusedError():
            return "nothing listens there"
        case http.client.HTTPException():
            return "it speaks something else than HTTP"
    return "no way to it"
