"""Whose volume an image is, read from a real API server; and what is lost without the right to read it."""

from __future__ import annotations

import time

from collector.model.objects import CephClient, RbdVolume
from collector.sources.kubernetes_api import connect
from collector.sources.kubernetes_kinds import KINDS, VOLUMES
from collector.sources.kubernetes_watch import ClusterWatch, WatchSettings
from controller.demo.processes import wait_until
from controller.knobs.rights import reading_rules, volume_rules
from tests.testbed import Testbed
from tests.testbed.volumes import bind_image, remove_volume

QUICK = WatchSettings(watch_seconds=3, longest_pause_seconds=1.0)


def test_a_bound_volume_is_seen_until_it_is_gone(control_plane: Testbed) -> None:
    api = control_plane.kubernetes.api
    user = control_plane.kubernetes.user("volumes-reader", [*reading_rules(), *volume_rules()])
    watch = ClusterWatch(connect(user.kubeconfig), QUICK, kinds=(*KINDS, VOLUMES))
    watch.start()
    try:
        assert watch.wait_ready(180)
        bind_image(api, "default", "csi-vol-seen")
        wait_until(lambda: "pv-csi-vol-seen" in watch.picture(time.time()).volumes, "the volume in the picture")
        found = watch.picture(time.time()).volumes["pv-csi-vol-seen"]
        assert found == RbdVolume("pv-csi-vol-seen", "default", "data", ("rbd", "", "csi-vol-seen"), CephClient.KRBD)
        remove_volume(api, "csi-vol-seen")
        wait_until(lambda: "pv-csi-vol-seen" not in watch.picture(time.time()).volumes, "the volume to leave it")
    finally:
        watch.stop()


def test_without_the_right_to_read_volumes_the_rest_of_the_picture_is_whole_and_fresh(control_plane: Testbed) -> None:
    user = control_plane.kubernetes.user("no-volumes", reading_rules())
    watch = ClusterWatch(connect(user.kubeconfig), QUICK, kinds=(*KINDS, VOLUMES))
    watch.start()
    try:
        assert watch.wait_ready(180)
        picture = watch.picture(time.time())
        assert set(picture.unreadable) == {"persistentvolumes"}
        assert "403" in picture.unreadable["persistentvolumes"]
        assert picture.age_seconds < 60
        assert picture.namespaces
    finally:
        watch.stop()
