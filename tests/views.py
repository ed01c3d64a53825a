"""Views for tests of reading verbs: what `view_of` would see, without any server."""

from __future__ import annotations

from collector.assemble.assemble import assemble
from collector.assemble.clocks import WaitClocks
from collector.assemble.gpu_ledger import Devices, gpu_ledger
from collector.assemble.infer import infer_site
from collector.assemble.lies import lies
from collector.model.objects import Picture
from collector.model.snapshot import Evidence
from controller.cli.not_known import without_invention
from controller.cli.view import View
from tests.pictures import NOW, PictureMaker


def view_of_picture(picture: Picture, devices: Devices | None = None) -> View:
    """The view of a cluster whose tenants are inferred."""
    inferred = infer_site(picture, "test")
    snapshot = without_invention(assemble(picture, inferred.site, Evidence(), WaitClocks(), NOW)[0], picture)
    read = devices or Devices()
    return View(
        server="https://cluster.test:6443",
        now=NOW,
        picture=picture,
        site=inferred.site,
        inferred=inferred,
        snapshot=snapshot,
        devices=read,
        ledgers=gpu_ledger(picture, inferred.site, snapshot.works, read, NOW),
        lies=lies(picture, inferred.site),
    )


def starving_site() -> PictureMaker:
    """Three tenants on five nodes: nlp borrows, vision starves, a hero can never start, speech can not reclaim."""
    maker = PictureMaker("h100")
    for number in range(5):
        maker.node(f"n{number}")
    maker.tenant("vision", floor=8)
    maker.tenant("nlp", floor=8)
    maker.tenant("speech", floor=16, reclaim_within_cohort="Never")
    maker.running("nlp", "pretrain", ("n0", "n1", "n2"))
    maker.running("vision", "segment", ("n3",))
    maker.work("vision", "train", gpus=8, pods=2, age=9000.0)
    maker.work("vision", "eval", gpus=8, age=7200.0)
    maker.work("speech", "hero", gpus=16, age=86400.0)
    return maker
