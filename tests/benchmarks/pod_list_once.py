"""Lists all pods of a cluster once in this fresh process, in our way or the client library's, and says what it cost.

`python -m tests.benchmarks.pod_list_once ours|library KUBECONFIG` prints JSON: pods, seconds, bytes (peak over start).
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

_PAGE_BYTES: Final = resource.getpagesize()


def resident_bytes() -> int:
    """Memory of this process now."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE_BYTES


def peak_bytes() -> int:
    """Most memory that this program ever had. Not by getrusage: that counts the process it was forked from as well."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def prepare(way: str, kubeconfig: Path) -> Callable[[], int]:
    """Import and connect; what is returned lists, keeps all pods, and counts them."""
    if way == "ours":
        from collector.sources.kubernetes_api import connect
        from collector.sources.kubernetes_kinds import KINDS
        from collector.sources.kubernetes_lists import read_list

        api = connect(kubeconfig)
        pods = next(kind for kind in KINDS if kind.name == "pods")
        return lambda: len(read_list(api, pods, "v1", page_size=500).objects)
    from kubernetes.client.api.core_v1_api import CoreV1Api
    from kubernetes.client.api_client import ApiClient
    from kubernetes.client.configuration import Configuration
    from kubernetes.config.kube_config import load_kube_config

    configuration = Configuration()
    load_kube_config(str(kubeconfig), client_configuration=configuration)  # type: ignore[no-untyped-call]  # theirs
    core = CoreV1Api(ApiClient(configuration))
    return lambda: len(core.list_pod_for_all_namespaces().items)


def main() -> None:
    """Measure, and print."""
    list_all = prepare(sys.argv[1], Path(sys.argv[2]))
    before = resident_bytes()
    started = time.perf_counter()
    pods = list_all()
    seconds = time.perf_counter() - started
    json.dump({"pods": pods, "seconds": seconds, "bytes": peak_bytes() - before}, sys.stdout)


if __name__ == "__main__":
    main()
