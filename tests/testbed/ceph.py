"""A small real Ceph: one monitor, one manager with its prometheus module, three BlueStore OSDs on sparse files.

No systemd, no keys: it trusts this machine and listens on 127.0.0.1 only. Its periods are short, so that a fault shows
within seconds; what tests do to it (slow disk, frozen OSD, load) is undone by `stop` at the latest.
"""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import urllib3

from controller.demo.processes import Service, ServiceFailed, answers, wait_until
from tests.testbed.disk_throttle import throttle_writes, unthrottle
from tests.testbed.parts import CEPH
from tests.testbed.place import Place

OSDS = 3
POOL = "rbd"
_COMMAND_SECONDS = 240.0
_HTTP = urllib3.PoolManager(retries=False, timeout=urllib3.Timeout(total=60.0))

_CONFIGURATION = """\
[global]
fsid = {fsid}
mon_host = [v2:127.0.0.1:{v2},v1:127.0.0.1:{v1}]
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
run_dir = {folder}
# The paths of sockets may be 107 characters long, those of tests are longer: without.
admin_socket =
pid_file =
crash_dir = {folder}
log_file = {folder}/$name.ceph.log
log_to_stderr = false
mon_cluster_log_file = {folder}/cluster.ceph.log
mon_data = {folder}/mon
mgr_data = {folder}/mgr
mds_data = {folder}/mds
osd_data = {folder}/osd.$id
osd_objectstore = bluestore
bluestore_block_size = 4294967296
bluestore_cache_autotune = false
bluestore_cache_size = 67108864
osd_pool_default_size = {osds}
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 8
osd_pool_default_pgp_num = 8
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_warn_on_pool_no_redundancy = false
mon_data_avail_warn = 1
mon_data_avail_crit = 1
auth_allow_insecure_global_id_reclaim = false
# A fault shows within a few seconds instead of half a minute, and a past one is not warned of for long.
mgr_stats_period = 1
mon_mgr_digest_period = 1
mgr_tick_period = 1
osd_mon_report_interval = 1
osd_heartbeat_interval = 2
osd_heartbeat_grace = 60
osd_op_complaint_time = 2
mon_warn_on_slow_ping_time = 3600000
mgr_initial_modules = prometheus
[client]
rbd_cache = false
[osd]
# What is told to an OSD (`ceph tell`) is answered by the thread of its socket.
admin_socket = {sockets}/$name
"""

_MANAGER_OPTIONS = {
    "server_addr": "127.0.0.1",
    "scrape_interval": "1",
    "rbd_stats_pools": POOL,
}


class Ceph:
    """The cluster with pool `rbd`; `add_image` gives a tenant a volume in it."""

    name = "ceph"

    def __init__(self, place: Place) -> None:
        self._place = place
        self.mon = place.service("mon", partial(self._argv, "ceph-mon", "a"), lambda: _listens(place.port("mon-v2")))
        self.mgr = place.service("mgr", partial(self._argv, "ceph-mgr", "x"), lambda: answers(self.metrics_url))
        # All three are started first and waited for then.
        self.osds = tuple(
            place.service(f"osd.{n}", partial(self._argv, "ceph-osd", str(n)), lambda: True) for n in range(OSDS)
        )

        self.mds = place.service("mds", partial(self._argv, "ceph-mds", "m"), lambda: True)

    @property
    def services(self) -> Sequence[Service]:
        """In the order of their start; the metadata server runs once `add_filesystem` was called."""
        return (self.mon, *self.osds, self.mgr)

    @property
    def addresses(self) -> Mapping[str, str]:
        """What `status` shows."""
        return {"metrics": self.metrics_url, "configuration": str(self.configuration)}

    @property
    def metrics_url(self) -> str:
        """The manager's page for Prometheus."""
        return f"http://{self._place.address('metrics')}/metrics"

    @property
    def configuration(self) -> Path:
        """The file for `ceph -c` and `rbd -c`."""
        return self._place.folder / "ceph.conf"

    @property
    def _sockets(self) -> Path:
        """A short path: that of a socket may have 107 characters. The port makes it ours alone."""
        return Path(tempfile.gettempdir(), f"trimtab-ceph-{self._place.port('mon-v2')}")

    def start(self) -> None:
        """Makes the cluster if there is none yet, starts it, and returns when all OSDs are up and serve the pool."""
        for binary in CEPH.binaries:
            CEPH.binary(binary)
        made = self._place.folder / "made"
        if not made.exists():
            self._make_monitor()
        self._sockets.mkdir(mode=0o700, exist_ok=True)
        self.mon.start()
        if not made.exists():
            self._configure_manager()
            self._make_osds()
        for osd in self.osds:
            osd.start()
        self.mgr.start()  # last: where images exist already its first collection waits for the OSDs
        wait_until(self._all_up, f"{OSDS} OSDs to be up; logs in {self._place.folder}")
        if not made.exists():
            self.ceph("osd", "pool", "create", POOL, "8", "8")
            self._run("rbd", "pool", "init", POOL)
            made.touch()

    def stop(self) -> None:
        """Undoes what slows it and stops it. OSDs are killed: their stores are made for that, and it is quicker."""
        for number in range(OSDS):
            self.thaw_osd(number)
            self.unthrottle_osd(number)
        self.mds.kill()
        for osd in self.osds:
            osd.kill()
        self.mgr.stop()
        self.mon.stop()
        shutil.rmtree(self._sockets, ignore_errors=True)

    def metrics(self) -> str:
        """The manager's page as it is now."""
        return str(_HTTP.request("GET", self.metrics_url).data.decode())

    def ceph(self, *words: str) -> str:
        """What a `ceph` command prints; raises ServiceFailed with its complaint."""
        return self._run("ceph", *words)

    def add_image(self, image: str, mebibytes: int = 64) -> None:
        """Makes a volume in the pool. Without locks: a client that was killed keeps nobody waiting."""
        self._run("rbd", "create", f"{POOL}/{image}", f"--size={mebibytes}M", "--image-feature=layering")

    def add_filesystem(self, name: str) -> None:
        """Makes a CephFS of that name and starts its metadata server."""
        for pool in ("meta", "data"):
            self.ceph("osd", "pool", "create", f"{name}-{pool}", "4", "4")
        self.ceph("fs", "new", name, f"{name}-meta", f"{name}-data")
        (self._place.folder / "mds").mkdir(exist_ok=True)
        self.mds.start()
        wait_until(lambda: "up:active" in self.ceph("mds", "stat"), f"a metadata server; logs in {self._place.folder}")

    def write_once(self, image: str, kibibytes: int = 512) -> None:
        """Writes so much in blocks of 4 KiB and closes the volume: what a client that was killed had open stays so."""
        words = ("--io-type=write", "--io-size=4K", f"--io-total={kibibytes}K", "--io-pattern=rand")
        self._run("rbd", "bench", f"{POOL}/{image}", *words)

    def remove_image(self, image: str) -> None:
        """Deletes a volume. Nobody may have it open."""
        self._run("rbd", "rm", "--no-progress", f"{POOL}/{image}")

    def limit_image(self, image: str, write_iops: int) -> None:
        """Lets librbd write to a volume so many times a second."""
        self._run("rbd", "config", "image", "set", f"{POOL}/{image}", "rbd_qos_write_iops_limit", str(write_iops))

    def unlimit_image(self, image: str) -> None:
        """Takes the limit away."""
        self._run("rbd", "config", "image", "remove", f"{POOL}/{image}", "rbd_qos_write_iops_limit")

    def pause(self) -> None:
        """Stops the I/O of all clients."""
        self.ceph("osd", "pause")

    def unpause(self) -> None:
        """Lets clients go on."""
        self.ceph("osd", "unpause")

    def load(self, image: str, iops: int, at_most_seconds: int = 120, kind: str = "write") -> Service:
        """A client (not started yet) that reads, writes or both (`rw`) in blocks of 4 KiB, up to 16 at a time.

        It keeps to `iops` (which keeps the machine free for others; 0: to none, so that a limit of the image acts) and
        ends by itself after `at_most_seconds`.
        """
        words = [
            *("timeout", str(at_most_seconds), str(CEPH.binary("rbd")), "-c", str(self.configuration)),
            *("bench", f"{POOL}/{image}", f"--io-type={kind}", "--io-size=4K", "--io-threads=16", "--io-total=64G"),
            "--io-pattern=rand",
            *((f"--rbd-qos-iops-limit={iops}",) if iops else ()),
        ]
        return self._place.service(f"load-{image}", lambda: words, lambda: True)

    def throttle_osd(self, number: int, iops: int) -> None:
        """Lets the disk below one OSD take so many writes a second. Raises NoThrottle."""
        throttle_writes(self._pid(number), self._place.folder, iops)

    def unthrottle_osd(self, number: int) -> None:
        """Gives the OSD its disk back."""
        identity = self.osds[number].identity
        if identity is not None:
            unthrottle(identity.pid, self._place.folder)

    def freeze_osd(self, number: int) -> None:
        """Stops the OSD's threads where they are (SIGSTOP): its peers wait for it in vain."""
        identity = self.osds[number].identity
        if identity is not None:
            identity.signal_group(signal.SIGSTOP)

    def thaw_osd(self, number: int) -> None:
        """Lets a frozen OSD go on."""
        identity = self.osds[number].identity
        if identity is not None:
            identity.signal_group(signal.SIGCONT)

    def _pid(self, number: int) -> int:
        identity = self.osds[number].identity
        if identity is None:
            raise ServiceFailed(f"osd.{number} does not run")
        return identity.pid

    def _all_up(self) -> bool:
        ended = [osd.name for osd in self.osds if not osd.is_running()]
        if ended:
            raise ServiceFailed(f"{', '.join(ended)} ended; see the logs in {self._place.folder}")
        page = self.metrics()
        return all(f'ceph_osd_up{{ceph_daemon="osd.{number}"}} 1.0' in page for number in range(OSDS))

    def _make_monitor(self) -> None:
        for name in ("mon", "mgr", *(osd.name for osd in self.osds)):  # what an attempt that failed has left
            shutil.rmtree(self._place.folder / name, ignore_errors=True)
            (self._place.folder / name).mkdir(parents=True)
        fsid = str(uuid.uuid4())
        v2, v1 = self._place.port("mon-v2"), self._place.port("mon-v1")
        folders = {"folder": self._place.folder, "sockets": self._sockets}
        text = _CONFIGURATION.format(fsid=fsid, v2=v2, v1=v1, osds=OSDS, **folders)
        self._place.write(self.configuration.name, text)
        map_file = str(self._place.folder / "monmap")
        addresses = f"[v2:127.0.0.1:{v2},v1:127.0.0.1:{v1}]"
        _checked(
            [
                str(CEPH.binary("monmaptool")),
                "--create",
                "--clobber",
                "--fsid",
                fsid,
                "--addv",
                "a",
                addresses,
                map_file,
            ]
        )
        self._run("ceph-mon", "-i", "a", "--mkfs", "--monmap", map_file)

    def _configure_manager(self) -> None:
        """Options of a module, which the monitor does not know before a manager has run: hence forced."""
        options = {**_MANAGER_OPTIONS, "server_port": str(self._place.port("metrics"))}
        for name, value in options.items():
            self.ceph("config", "set", "--force", "mgr", f"mgr/prometheus/{name}", value)

    def _make_osds(self) -> None:
        for number in range(OSDS):
            identity = str(uuid.uuid4())
            self.ceph("osd", "new", identity, str(number))
            self._run("ceph-osd", "-i", str(number), "--mkfs", "--osd-uuid", identity)

    def _argv(self, program: str, identity: str) -> list[str]:
        return [str(CEPH.binary(program)), "-c", str(self.configuration), "-i", identity, "-f"]

    def _run(self, program: str, *words: str) -> str:
        return _checked([str(CEPH.binary(program)), "-c", str(self.configuration), *words])


def _checked(argv: Sequence[str]) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=_COMMAND_SECONDS)
    if done.returncode != 0:
        raise ServiceFailed(f"{' '.join(argv)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0
