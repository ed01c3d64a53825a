"""A FAKE of the RDMA part of /sys: no device is behind it. Files and values as a Linux driver lays them out.

Whoever reads /sys/class/infiniband reads `root` instead. Data counters count words of four bytes, as the real ones do.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

STATES: Final = {"active": ("4: ACTIVE", "5: LinkUp"), "down": ("1: DOWN", "3: Disabled")}
NOT_AVAILABLE: Final = "N/A (no PMA)"
"""What a counter holds whose port can not count it."""
BYTES_PER_WORD: Final = 4

_COUNTERS: Final = (
    "VL15_dropped",
    "excessive_buffer_overrun_errors",
    "link_downed",
    "link_error_recovery",
    "local_link_integrity_errors",
    "multicast_rcv_packets",
    "multicast_xmit_packets",
    "port_rcv_constraint_errors",
    "port_rcv_data",
    "port_rcv_errors",
    "port_rcv_packets",
    "port_rcv_remote_physical_errors",
    "port_rcv_switch_relay_errors",
    "port_xmit_constraint_errors",
    "port_xmit_data",
    "port_xmit_discards",
    "port_xmit_packets",
    "port_xmit_wait",
    "symbol_error",
    "unicast_rcv_packets",
    "unicast_xmit_packets",
)
_HW_COUNTERS: Final = (
    "duplicate_request",
    "implied_nak_seq_err",
    "local_ack_timeout_err",
    "out_of_buffer",
    "out_of_sequence",
    "packet_seq_err",
    "req_cqe_error",
    "req_remote_access_errors",
    "resp_cqe_error",
    "resp_local_length_error",
    "rnr_nak_retry_err",
    "roce_adp_retrans",
    "roce_adp_retrans_to",
    "roce_slow_restart",
)
_ONLY_ETHERNET: Final = (
    "np_cnp_sent",
    "np_ecn_marked_roce_packets",
    "rp_cnp_handled",
    "rp_cnp_ignored",
    "rx_icrc_encapsulated",
)
"""Congestion notices exist where RDMA runs over Ethernet only."""


@dataclass(frozen=True)
class FakePort:
    """One port; its counters may be moved while somebody reads them."""

    folder: Path

    def add(self, counter: str, amount: int) -> None:
        """Counts on. Raises FileNotFoundError for a counter that such a port does not have."""
        self.put(counter, str(int(self._file(counter).read_text()) + amount))

    def put(self, counter: str, text: str) -> None:
        """Writes what the counter's file holds, such as NOT_AVAILABLE."""
        self._file(counter).write_text(f"{text}\n")

    def set_up(self, traffic_class: int = 106, gid_kinds: tuple[str, ...] = ("IB/RoCE v1", "RoCE v2")) -> None:
        """Writes what a driver of RoCE shows of its settings, for a port whose GIDs stand in the first places."""
        for number in range(4):
            used = number < len(gid_kinds)
            gid = f"fe80:0000:0000:0000:0000:0000:0000:000{number + 1}" if used else ":".join(["0000"] * 8)
            self._write(f"gids/{number}", gid)
            if used:
                self._write(f"gid_attrs/types/{number}", gid_kinds[number])
        self._write(f"../../tc/{self.folder.name}/traffic_class", f"Global tclass={traffic_class}")

    def _write(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")

    def set_state(self, state: str) -> None:
        """Active or down, a key of STATES."""
        for name, text in zip(("state", "phys_state"), STATES[state], strict=True):
            (self.folder / name).write_text(f"{text}\n")

    def _file(self, counter: str) -> Path:
        found = [self.folder / kind / counter for kind in ("counters", "hw_counters")]
        return next((file for file in found if file.exists()), found[0])


@dataclass(frozen=True)
class FakeRdmaSysfs:
    """A tree below `root`, which stands for /sys."""

    root: Path

    def add_interface(self, device: str, interface: str, mtu: int = 4200) -> None:
        """Says that the device has this network interface; the interface itself is the machine's own, or none."""
        folder = self.root / "class" / "infiniband" / device / "device" / "net" / interface
        folder.mkdir(parents=True)
        (folder / "mtu").write_text(f"{mtu}\n")
        (folder / "dev_port").write_text("0\n")

    def add_device(
        self, name: str = "mlx5_0", link_layer: str = "InfiniBand", rate: str = "400 Gb/sec (4X NDR)", port: int = 1
    ) -> FakePort:
        """A device with one active port whose counters stand at zero. `link_layer`: InfiniBand or Ethernet."""
        device = self.root / "class" / "infiniband" / name
        folder = device / "ports" / str(port)
        hw_counters = _HW_COUNTERS + (_ONLY_ETHERNET if link_layer == "Ethernet" else ())
        for kind, counters in (("counters", _COUNTERS), ("hw_counters", hw_counters)):
            (folder / kind).mkdir(parents=True)
            for counter in counters:
                (folder / kind / counter).write_text("0\n")
        about_device = {"hca_type": "MT4129", "fw_ver": "28.39.1002", "board_id": "MT_0000000838"}
        for file, text in about_device.items():
            (device / file).write_text(f"{text}\n")
        for file, text in {"link_layer": link_layer, "rate": rate}.items():
            (folder / file).write_text(f"{text}\n")
        (folder / "hw_counters" / "lifespan").write_text("12\n")
        made = FakePort(folder)
        made.set_state("active")
        return made
