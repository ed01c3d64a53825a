"""Links as JSON: what is written is read back, whatever is read does no harm, and the past outlives a restart."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from collector.assemble.probe_memory import REMEMBERED, ProbeMemory, memory_document, read_memory
from collector.model.probing import Link, LinkProbe, Operation
from collector.model.reading import Known, Unknown
from collector.parse.probe_links import links_document, read_links, read_past

values = st.floats(1e-7, 1.0, allow_nan=False)
keys = st.sampled_from(["a/0", "b/0", "c/0"])
links = st.builds(Link, keys, keys)
latencies = st.dictionaries(
    st.tuples(st.sampled_from(Operation), st.sampled_from((0.5, 0.99))),
    values.map(Known) | st.just(Unknown("-")),
)
probes = st.lists(
    st.builds(LinkProbe, links, st.integers(0, 10**6).map(float), latencies, st.sampled_from(("", "timeout"))),
    max_size=20,
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["links", "past", "at"]), inner),
    max_leaves=8,
)


def remembered(told: list[LinkProbe]) -> ProbeMemory:
    memory = ProbeMemory()
    for probe in sorted(told, key=lambda one: one.at):
        memory = memory.advance(probe)
    return memory


def through_json(document: object) -> Any:
    return json.loads(json.dumps(document))


@given(probes)
def test_links_are_read_back_as_they_were_told(told: list[LinkProbe]) -> None:
    states = remembered(told).states()
    read, bad = read_links(through_json(links_document(states)))
    assert bad == 0
    assert [(one.link, one.at, one.fault, set(one.quantities)) for one in read] == [
        (one.link, one.at, one.fault, set(one.quantities)) for one in states
    ]
    assert links_document(read) == links_document(states)


@given(probes)
def test_what_is_usual_outlives_a_restart(told: list[LinkProbe]) -> None:
    memory = remembered(told)
    again = read_memory(through_json(memory_document(memory)))
    assert again is not None
    assert memory_document(again)["links"] == [
        {**one, "quantities": [{**q, "lasting_seconds": None} for q in one["quantities"]]}
        for one in through_json(memory_document(memory))["links"]
    ], "but for the probe before the last"


def test_a_memory_is_bounded() -> None:
    probe = LinkProbe(Link("a/0", "b/0"), 1.0, {(Operation.WRITE, 0.5): Known(1e-6)})
    memory = remembered([probe] * (REMEMBERED + 10))
    ((entry,), _) = (memory_document(memory)["links"], None)
    assert len(entry["past"]["write:0.5"]) == REMEMBERED


@given(anything)
def test_whatever_is_read_is_links_or_nothing(document: Any) -> None:
    states, bad = read_links(document)
    assert bad >= 0
    assert all(isinstance(state.at, float) for state in states)
    read_past(document)
    read_memory(document)
    read_memory({"version": 1, "links": [document, {"past": document}]})
