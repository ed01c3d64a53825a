"""How alerts reach the doorbell: an Alertmanager configuration to merge into the site's own. Pure."""

from __future__ import annotations

from typing import Any, Final

from alerts.render.yaml_text import yaml_text
from alerts.rules.model import SIGNAL_LABEL, SignalKind
from alerts.rules.timing import Timing, promql_duration

GROUP_BY: Final = ("cluster", "tenant", "pool")
"""One post per tenant and pool, whatever the reasons: the loop looks once."""
DOORBELL_URL: Final = "http://trimtab-controller.trimtab-system.svc:9109/alerts"
TOKEN_FILE: Final = "/etc/alertmanager/secrets/trimtab-doorbell/token"

_GROUP_WAIT_SECONDS: Final = 5.0
_GROUP_INTERVAL_SECONDS: Final = 30.0
_REPEAT_INTERVAL_SECONDS: Final = 3600.0
_FLOOR_SECONDS: Final = 1.0


def alertmanager_document(
    url: str = DOORBELL_URL, token_file: str = TOKEN_FILE, time_scale: float = 1.0
) -> dict[str, Any]:
    """A whole configuration; `people` stands for the site's own receivers, which get our alerts as well.

    Raises ValueError for an impossible time scale.
    """
    return {
        "route": {"receiver": "people", "routes": [_route(Timing(time_scale)), {"receiver": "people"}]},
        "inhibit_rules": [_blind_holds_back_the_rest(), _fast_burn_says_it_all()],
        "receivers": [{"name": "people"}, _receiver(url, token_file)],
    }


def alertmanager_config(url: str = DOORBELL_URL, token_file: str = TOKEN_FILE, time_scale: float = 1.0) -> str:
    """The same as text."""
    return yaml_text(alertmanager_document(url, token_file, time_scale))


def _route(timing: Timing) -> dict[str, Any]:
    def scaled(seconds: float) -> str:
        return promql_duration(max(seconds / timing.time_scale, _FLOOR_SECONDS))

    return {
        "receiver": "trimtab",
        "matchers": [f'{SIGNAL_LABEL}=~".+"'],
        "continue": True,
        "group_by": list(GROUP_BY),
        "group_wait": scaled(_GROUP_WAIT_SECONDS),
        "group_interval": scaled(_GROUP_INTERVAL_SECONDS),
        "repeat_interval": scaled(_REPEAT_INTERVAL_SECONDS),
    }


def _receiver(url: str, token_file: str) -> dict[str, Any]:
    authorization = {"type": "Bearer", "credentials_file": token_file}
    webhook = {"url": url, "send_resolved": True, "http_config": {"authorization": authorization}}
    return {"name": "trimtab", "webhook_configs": [webhook]}


def _blind_holds_back_the_rest() -> dict[str, Any]:
    held_back = (
        SignalKind.STARVED,
        SignalKind.OBJECTIVE_BURNING,
        SignalKind.FABRIC_SLOW,
        SignalKind.GANG_HUNG,
        SignalKind.GANG_STRAGGLES,
        SignalKind.GPU_SICK,
    )
    others = "|".join(kind.value for kind in held_back)
    return {
        "source_matchers": [f'{SIGNAL_LABEL}="{SignalKind.BLIND.value}"'],
        "target_matchers": [f'{SIGNAL_LABEL}=~"{others}"'],
        "equal": ["cluster"],
    }


def _fast_burn_says_it_all() -> dict[str, Any]:
    burning = f'{SIGNAL_LABEL}="{SignalKind.OBJECTIVE_BURNING.value}"'
    return {
        "source_matchers": [burning, 'burn="fast"'],
        "target_matchers": [burning, 'burn!="fast"'],
        "equal": ["cluster", "tenant", "pool", "objective"],
    }
