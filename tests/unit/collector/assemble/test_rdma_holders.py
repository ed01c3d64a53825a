"""Pods of RDMA devices: named by PCI address, else counted as held by nobody can say whom."""

from __future__ import annotations

from dataclasses import dataclass

from collector.assemble.rdma_holders import RdmaHolders, rdma_holders

ADDRESSES = {"0000:3b:00.2": "mlx5_2", "0000:3b:00.3": "mlx5_3"}


@dataclass(frozen=True)
class Told:
    device: str
    resource: str = "nvidia.com/sriov_rail0"
    namespace: str = "vision"
    pod: str = "train-0"


def test_a_device_that_is_handed_out_by_its_address_names_its_pod_once() -> None:
    told = [Told("0000:3b:00.2"), Told("0000:3b:00.2"), Told("0000:3b:00.3", pod="train-1")]
    assert rdma_holders(told, ADDRESSES) == RdmaHolders(
        (("mlx5_2", "vision", "train-0"), ("mlx5_3", "vision", "train-1"))
    )


def test_a_share_of_all_devices_is_held_and_of_no_device() -> None:
    told = [Told("17", "rdma/hca_shared_devices_a"), Told("18", "rdma/hca_shared_devices_a")]
    assert rdma_holders(told, ADDRESSES) == RdmaHolders((), 2)


def test_other_devices_are_none_of_it() -> None:
    assert rdma_holders([Told("GPU-1", "nvidia.com/gpu"), Told("7", "example.com/fpga")], ADDRESSES) == RdmaHolders()
