"""The part of the cluster role that gathers the probes of all nodes: what it reads, what it exports. Starts nothing."""

from __future__ import annotations

import time
from collections.abc import Callable

from prometheus_client import CollectorRegistry

from collector.exporter.families import Published
from collector.exporter.health import Health
from collector.exporter.probe_board import ProbeBoard
from collector.exporter.probe_families import ProbePictureCollector
from collector.sources.probe_gather import gather
from controller.runtime.probe_file import ProbeFile


def probe_board(
    file: ProbeFile | None,
    health: Health,
    registry: CollectorRegistry,
    published: Callable[[], Published],
    stale_after_seconds: float,
) -> ProbeBoard | None:
    """What gathers, with its metrics in the registry; None without a file. Raises InputError."""
    if file is None:
        return None
    file.settings()  # a file that was never good is said at once
    # What a node knows of its links is no secret: no token is sent about.
    board = ProbeBoard(file.settings, lambda settings: gather(settings, ""), health, time.time)
    registry.register(
        ProbePictureCollector(lambda: board.picture, lambda: board.fabric, published, time.time, stale_after_seconds)
    )
    return board
