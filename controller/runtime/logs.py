"""Logs: one event name with fields, JSON lines on stderr or wherever the caller says."""

from __future__ import annotations

import sys
from typing import TextIO

import structlog


def log_as_json(to: TextIO | None = None) -> None:
    """Set structlog up for a long-lived program. `to`: where the lines go, default stderr."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(sort_keys=True),
        ],
        logger_factory=structlog.PrintLoggerFactory(to or sys.stderr),
        cache_logger_on_first_use=True,
    )
