"""Levels, whatever happens: crashes, refusals, blindness, people's own writes, a lost ledger.

At every instant the own objects of a pool hold no more together than their baselines, none less than nothing, and what
is off its baseline is explained by a recorded change with an end. Left alone, all comes back to the baseline.
"""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from collector.model.snapshot import Evidence
from controller.api.policy import Budgets, Mode, Policy
from controller.knobs import own
from controller.knobs.marks import CHANGES_ANNOTATION
from tests.builders import HOUR, agreed
from tests.native_world import NativeWorld
from tests.world import Crash, Fuse, Steering, World

TENANTS = ("vision", "nlp", "ads")
deaths = st.just(Fuse()) | st.builds(Fuse, st.integers(0, 9), st.booleans())
POLICY = Policy(mode=Mode.ENFORCE, budgets=Budgets(60, 3, 60, 1e9))


class Levels(RuleBasedStateMachine):
    """One site, steered, disturbed and watched."""

    @initialize(
        floats=st.tuples(*[st.sampled_from([0, 4, 8, 16])] * len(TENANTS)),
        shared=st.sampled_from([8, 16, 32]),
        confirm=st.integers(1, 2),
    )
    def begins(self, floats: tuple[int, ...], shared: int, confirm: int) -> None:
        tenants = [agreed(name, 8, floating, burst=48) for name, floating in zip(TENANTS, floats, strict=True)]
        nodes = (sum(floats) + shared) // 8 + len(TENANTS) + 1
        self.starts_with(World(*tenants, shared=shared, nodes=nodes), confirm)

    def starts_with(self, world: World, confirm: int) -> None:
        self.world, self.steers = world, Steering(world)
        self.steers.policy = replace(POLICY, cadence=replace(POLICY.cadence, confirm_ticks=confirm))
        self.nodes = len(world.node_names)
        self.count = 0
        self.people_gave = False
        self.marks_erased = False

    # The cluster lives.

    @rule(seconds=st.sampled_from([1.0, 30.0, 960.0, 2 * HOUR, 5 * HOUR]))
    def time_passes(self, seconds: float) -> None:
        self.world.passes(seconds)

    @rule(pair=st.permutations(TENANTS), gpus=st.sampled_from([2, 4, 8]), dies=deaths)
    def a_tenant_starves_while_another_borrows(self, pair: list[str], gpus: int, dies: Fuse) -> None:
        self.runs_up_to(pair[0], 8 + self.world.levels()[f"trimtab-{pair[0]}"])
        self.runs_up_to(pair[1], 8 + self.world.levels()[f"trimtab-{pair[1]}"] + 8)
        self.world.submits(pair[0], self.name(), gpus, ago=2 * HOUR)
        self.world.passes(960)
        self.ticks(2, dies)

    @rule(tenant=st.sampled_from(TENANTS), gpus=st.sampled_from([4, 8]), late=st.booleans())
    def work_is_submitted(self, tenant: str, gpus: int, late: bool) -> None:
        self.world.submits(tenant, self.name(), gpus, ago=2 * HOUR if late else 0.0)

    def runs_up_to(self, tenant: str, gpus: int) -> None:
        running = [g for g in self.world.gangs.values() if g.tenant == tenant and g.admitted_at is not None]
        for _ in range(sum(gang.gpus for gang in running), gpus, 4):
            self.world.runs(tenant, self.name(), f"n{self.count % self.nodes}", gpus=4, ago=60)

    def name(self) -> str:
        self.count += 1
        return f"w{self.count}"

    @precondition(lambda self: any(gang.admitted_at is None for gang in self.world.gangs.values()))
    @rule(data=st.data())
    def work_starts(self, data: st.DataObject) -> None:
        waiting = sorted(title for title, gang in self.world.gangs.items() if gang.admitted_at is None)
        self.world.starts(data.draw(st.sampled_from(waiting)), f"n{self.count % self.nodes}")

    @precondition(lambda self: self.world.gangs)
    @rule(data=st.data(), evicted=st.booleans())
    def work_ends_or_is_evicted(self, data: st.DataObject, evicted: bool) -> None:
        title = data.draw(st.sampled_from(sorted(self.world.gangs)))
        if evicted and self.world.gangs[title].admitted_at is not None:
            self.world.is_evicted(title, by=data.draw(st.sampled_from(sorted(self.world.gangs))))
        else:
            self.world.ends(title)

    # The controller ticks, and dies.

    @rule()
    def it_ticks(self) -> None:
        self.steers.tick()

    @rule(dies=deaths)
    def it_ticks_until_times_to_live_are_over(self, dies: Fuse) -> None:
        self.world.passes(5 * HOUR)
        self.ticks(2, dies)

    def ticks(self, count: int, dies: Fuse) -> None:
        self.steers.fuse = replace(dies)
        try:
            self.steers.ticks(count)
        except Crash:
            self.steers.restart()
        finally:
            self.steers.fuse = Fuse()

    @precondition(lambda self: not self.marks_erased)
    @rule()
    def the_ledger_is_lost(self) -> None:
        self.steers.kept = {}
        self.steers.restart()
        self.steers.tick()

    # The surroundings fail.

    @rule(which=st.sets(st.integers(0, 3), min_size=1, max_size=2), preview=st.booleans())
    def the_server_refuses(self, which: set[int], preview: bool) -> None:
        names = {self.own(number) for number in which}
        if preview:
            self.steers.refused_in_preview = dict.fromkeys(names, "REJECTED")
        else:
            self.steers.refused = dict.fromkeys(names, "CONFLICT")
        self.steers.tick()
        self.steers.refused, self.steers.refused_in_preview = {}, {}

    @rule(prometheus=st.booleans(), late=st.booleans())
    def it_ticks_blind(self, prometheus: bool, late: bool) -> None:
        if prometheus:
            self.world.evidence = Evidence(blind=("no answer",))
        else:
            self.world.picture_fields = {"unreadable": {"cohorts": "forbidden"}, "cohorts": {}}
        self.world.passes(5 * HOUR if late else 30)
        before = self.world.levels()
        self.steers.tick()
        assert prometheus or self.world.levels() == before, "nothing is written by a picture with holes"
        self.world.evidence, self.world.picture_fields = Evidence(), {}

    @rule(mode=st.sampled_from([Mode.OBSERVE, Mode.ENFORCE]), paused=st.booleans())
    def it_ticks_while_it_may_not_write(self, mode: Mode, paused: bool) -> None:
        policy = self.steers.policy
        self.steers.policy = replace(policy, mode=mode, paused=paused)
        self.steers.tick()
        self.steers.policy = policy

    # People write.

    @rule()
    def people_apply_the_baseline(self) -> None:
        self.world.apply_baseline()
        self.people_gave, self.marks_erased = False, False

    @rule(which=st.integers(0, 3))
    def people_apply_a_part_of_the_baseline(self, which: int) -> None:
        self.world.apply_baseline(self.own(which))
        self.people_gave = self.people_gave or sum(self.world.levels().values()) > self.world.most()

    @rule(which=st.integers(0, 3), text=st.sampled_from([None, "", "[]", "[{}]", "rubbish"]))
    def people_edit_an_annotation(self, which: int, text: str | None) -> None:
        annotations = self.world.objects()[self.own(which)]["metadata"].get("annotations", {})
        if CHANGES_ANNOTATION in annotations:
            self.marks_erased = True
            if text is None:
                del annotations[CHANGES_ANNOTATION]
            else:
                annotations[CHANGES_ANNOTATION] = text

    @precondition(lambda self: self.steers.kept)
    @rule(data=st.data(), hard=st.booleans())
    def people_send_a_change_back(self, data: st.DataObject, hard: bool) -> None:
        ledger = self.steers.ledger
        change = data.draw(st.sampled_from(ledger.changes))
        self.steers.save(ledger.with_change(change.returning(self.world.now, "asked", hard=hard)))

    # What always holds.

    def own(self, which: int) -> str:
        names = sorted(self.world.levels())
        return names[which % len(names)]

    def marked(self) -> set[str]:
        return {mark.object_name for mark in own.marks(self.world.baseline, self.world.picture())}

    @invariant()
    def levels_are_possible(self) -> None:
        levels = self.world.levels()
        assert min(levels.values()) >= 0
        if sum(levels.values()) <= self.world.most():
            self.people_gave = False
        assert self.people_gave or sum(levels.values()) <= self.world.most(), levels

    @invariant()
    def what_is_moved_is_recorded_and_ends(self) -> None:
        active = self.steers.ledger.active
        assert len({change.id for change in active}) == len(active)
        assert all(change.id and isfinite(change.expires_at) for change in active)
        off = {name for name, level in self.world.levels().items() if level != self.world.agreed()[name]}
        told = {name for change in active for name in (change.source, change.destination)} | self.marked()
        assert off <= told, f"{off - told} are off their baseline and nobody knows why"

    @invariant()
    def every_change_that_ended_was_judged(self) -> None:
        for change in self.steers.ledger.changes:
            assert change.active or (change.verdict is not None and change.ended_at is not None)

    def teardown(self) -> None:
        """Sighted, unrefused, with all work gone and every time to live over, all comes back."""
        if not hasattr(self, "steers"):
            return
        self.world.gangs.clear()
        self.world.passes(5 * HOUR)
        for _ in range(4):
            self.steers.tick()
            self.world.passes(30)
        assert self.world.levels() == self.world.agreed()
        assert self.steers.ledger.active == ()
        assert self.marked() == set()


class NativeLevels(Levels):
    """The same without Kueue: caps that rise to what is idle."""

    world: NativeWorld

    @initialize(
        floats=st.tuples(*[st.sampled_from([0, 4, 8])] * len(TENANTS)),
        spare=st.integers(1, 6),
        confirm=st.integers(1, 2),
    )
    def begins_without_kueue(self, floats: tuple[int, ...], spare: int, confirm: int) -> None:
        tenants = [agreed(name, 8, floating, burst=48) for name, floating in zip(TENANTS, floats, strict=True)]
        self.starts_with(NativeWorld(*tenants, nodes=len(TENANTS) + spare), confirm)

    begins = None  # type: ignore[assignment] # the other beginning

    @rule(pair=st.permutations(TENANTS), gpus=st.sampled_from([2, 4, 8]), dies=deaths)
    def a_tenant_starves_while_another_borrows(self, pair: list[str], gpus: int, dies: Fuse) -> None:
        self.world.is_refused(pair[0], self.name(), gpus=gpus, ago=2 * HOUR)
        self.world.passes(960)
        self.ticks(2, dies)

    @rule(which=st.integers(0, 9))
    def refused_work_runs(self, which: int) -> None:
        for title in sorted(self.world.refused & set(self.world.gangs))[which : which + 1]:
            self.world.refused.discard(title)
            self.world.starts(title, f"n{which % self.nodes}")


SETTINGS = settings(max_examples=settings().max_examples // 2, stateful_step_count=30)
TestLevels, TestNativeLevels = Levels.TestCase, NativeLevels.TestCase
TestLevels.settings = TestNativeLevels.settings = SETTINGS
