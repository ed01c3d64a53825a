"""What may name an object of Kubernetes. Pure, and light: programs that read no document ask it as well."""

from __future__ import annotations

import re
from typing import Final

_DNS_LABEL: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_DNS_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")


def is_label_name(text: str) -> bool:
    """Whether `text` may name a namespace or a tenant: a DNS label of RFC 1123."""
    return _DNS_LABEL.fullmatch(text) is not None


def is_object_name(text: str) -> bool:
    """Whether `text` may name a Kubernetes object of most kinds: a DNS subdomain of RFC 1123."""
    return len(text) <= 253 and _DNS_SUBDOMAIN.fullmatch(text) is not None
