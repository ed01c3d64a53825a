"""Runs the program that a kubeconfig names to bring credentials (`exec`), within a time, and says why it brought none.

The `kubernetes` library logs such a failure and goes on as nobody, waits without end, and leaves what the program
started. May not keep or show what the program answered.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from kubernetes.config.config_exception import ConfigException

LONGEST_SECONDS: Final = 60.0
"""Long enough for a person who is asked for a code, too short for a loop to be taken for dead."""
_SHOWN_CHARACTERS: Final = 200


def credentials_of(
    helper: Mapping[str, Any], folder: str, cluster: Mapping[str, Any], longest_seconds: float = LONGEST_SECONDS
) -> Mapping[str, Any]:
    """`status` of the ExecCredential that the program prints. Raises ConfigException in words for people."""
    command = helper.get("command")
    if not isinstance(command, str) or not command or not isinstance(helper.get("apiVersion"), str):
        raise ConfigException("the user's exec names no command, or no apiVersion")
    answer = _answer(helper, command, folder, cluster, longest_seconds)
    try:
        document = json.loads(answer)
    except ValueError:
        document = None
    status = document.get("status") if isinstance(document, dict) else None
    if not isinstance(status, dict) or document.get("apiVersion") != helper["apiVersion"]:
        raise ConfigException(f"the helper {command} printed no ExecCredential of {helper['apiVersion']}")
    if not status.get("token") and not (status.get("clientCertificateData") and status.get("clientKeyData")):
        raise ConfigException(f"the helper {command} brought neither a token nor a certificate with its key")
    return status


def _answer(
    helper: Mapping[str, Any], command: str, folder: str, cluster: Mapping[str, Any], longest_seconds: float
) -> str:
    # At a terminal the program may ask its person; else it has a group of its own, which can be ended as a whole.
    asks = sys.stdin is not None and sys.stdin.isatty() and helper.get("interactiveMode") != "Never"
    spec = {"interactive": asks, **({"cluster": cluster} if helper.get("provideClusterInfo") else {})}
    information = {"apiVersion": helper["apiVersion"], "kind": "ExecCredential", "spec": spec}
    more = {str(one["name"]): str(one["value"]) for one in helper.get("env") or ()}
    try:
        child = subprocess.Popen(
            [command, *(str(word) for word in helper.get("args") or ())],
            stdin=None if asks else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=None if asks else subprocess.PIPE,
            cwd=folder or None,
            env={**os.environ, **more, "KUBERNETES_EXEC_INFO": json.dumps(information)},
            start_new_session=not asks,
        )
    except OSError:
        hint = f"; {_shown(str(helper['installHint']))}" if helper.get("installHint") else ""
        raise ConfigException(f"the helper {command} can not be started{hint}") from None
    answered = False
    try:
        answer, said = child.communicate(timeout=longest_seconds)
        answered = child.returncode == 0
    except subprocess.TimeoutExpired:
        raise ConfigException(f"the helper {command} gave no answer within {longest_seconds:g} s") from None
    finally:
        if not answered:
            _end(child, whole_group=not asks)
    if not answered:
        reason = _shown((said or b"").decode(errors="replace"))
        told = f": {reason}" if reason else ""
        raise ConfigException(f"the helper {command} failed with exit code {child.returncode}{told}")
    return answer.decode(errors="replace")


def _end(child: subprocess.Popen[bytes], *, whole_group: bool) -> None:
    with suppress(ProcessLookupError):
        if whole_group:
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    child.wait()
    for pipe in (child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()


def _shown(text: str) -> str:
    """The last line that says something, printable and cut short."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "".join(sign for sign in (lines[-1] if lines else "") if sign.isprintable())[:_SHOWN_CHARACTERS]
