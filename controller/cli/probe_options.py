"""The options about probes, made into what runs them. Loaded only where probes are asked for."""

from __future__ import annotations

from pathlib import Path

from collector.sources.drained_nodes import drained_nodes
from controller.api.errors import InputError, Mistake
from controller.files.reading import read_text
from controller.runtime.node_probing import NodeProbing, ProbingOptions
from controller.runtime.probe_file import ProbeFile, read_apart


def probing_of(node: str, file: Path, token_file: Path | None, state: Path | None, time_scale: float) -> NodeProbing:
    """The probes of a node. Raises InputError."""
    options = ProbingOptions(ProbeFile(file, time_scale, read_apart), read_token(token_file), state)
    return NodeProbing(node, options, drained_nodes)


def read_token(file: Path | None) -> str:
    """The token that nodes share. Raises InputError: without one nobody would be served."""
    if file is None:
        raise InputError((Mistake("--probe-token-file", "nothing", "a file with the token that all nodes share"),))
    token = read_text(file, "a file with the token", "--probe-token-file").strip()
    if not token or not token.isascii() or not token.isprintable():
        expected = "a token of printable ASCII signs"
        raise InputError((Mistake(f"--probe-token-file {file}", "an empty file or other signs", expected),))
    return token
