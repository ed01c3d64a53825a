"""`trimtab run collector --role node` as a process of its own, over a FAKE /sys and the interfaces of this machine."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import urllib3

from controller.cli.main import run
from controller.demo.processes import Service, answers, free_port, wait_until
from tests.testbed.fake_rdma_sysfs import FakeRdmaSysfs

ROOT = Path(__file__).resolve().parents[2]
NOT_NEEDED = {"kubernetes", "prometheus_api_client", "requests", "pandas", "pydantic"}


class NodeProcess:
    """The process and what it says."""

    def __init__(self, folder: Path) -> None:
        self.tree = FakeRdmaSysfs(folder / "sys")
        self.port = self.tree.add_device("mlx5_0", link_layer="Ethernet")
        self.port.set_up()
        self.tree.add_interface("mlx5_0", "not-here0")
        listen = free_port()
        self.url = f"http://127.0.0.1:{listen}"
        command = "from controller.cli.main import main; main()"
        self.service = Service(
            "node",
            lambda: [
                *(sys.executable, "-c", command, "run", "collector", "--role=node", "--node=n1", "--nvml"),
                *(f"--sysfs={folder / 'sys'}", f"--listen=127.0.0.1:{listen}", "--cluster=c1", "--time-scale=60"),
            ],
            folder,
            lambda: answers(f"{self.url}/readyz"),
            environment={"PYTHONPATH": str(ROOT)},
        )

    def page(self) -> str:
        return urllib3.request("GET", f"{self.url}/metrics", retries=False, timeout=5.0).data.decode()


@pytest.fixture
def process(tmp_path: Path) -> Iterator[NodeProcess]:
    made = NodeProcess(tmp_path)
    made.service.start()
    yield made
    made.service.stop()


def test_ports_go_on_where_interfaces_and_gpus_can_not_be_read(process: NodeProcess) -> None:
    process.port.add("port_xmit_data", 250)
    labels = 'cluster="c1",device="mlx5_0",link_layer="Ethernet",node="n1",port="1"'
    sent = f"trimtab_rdma_port_transmitted_bytes_total{{{labels}}}"
    wait_until(lambda: f"{sent} 1000.0" in process.page(), "the port's bytes")
    page = process.page()
    assert 'trimtab_collector_errors_total{device="mlx5_0",reason="unreadable",source="ethtool"}' in page
    assert 'trimtab_collector_errors_total{device="",reason="unreadable",source="nvml"}' in page
    assert f"trimtab_rdma_port_mtu_bytes{{{labels}}} 4200.0" in page
    assert f"trimtab_rdma_port_traffic_class_code{{{labels}}} 106.0" in page
    assert 'link_layer="Ethernet",node="n1",port="1",setting="gid"} 0.0' in page
    assert "trimtab_collector_last_success_timestamp_seconds{" not in page, "no decision needs these sources"
    assert "no driver of NVIDIA" in process.service.log_tail()


def test_the_node_role_loads_neither_the_client_of_the_api_server_nor_that_of_prometheus() -> None:
    program = (
        "import json, sys; import controller.cli.run_collector, controller.runtime.node_collecting; "
        "json.dump(sorted({name.partition('.')[0] for name in sys.modules}), sys.stdout)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert NOT_NEEDED.isdisjoint(json.loads(done.stdout))


def test_the_cluster_role_asks_for_its_documents(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", "collector", f"--listen=127.0.0.1:{free_port()}"]) == 2
    assert "--config: got nothing, expected a file or folder" in capsys.readouterr().err
