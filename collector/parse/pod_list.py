"""The JSON of a list of pods, decoded no further than `collector.parse.kubernetes.pod` looks. Pure.

It says which fields are looked at and how they normally are, never what they mean: what comes out goes to that same
function. A pod has hundreds of fields that nobody here reads, and to make Python objects of them is most of the work
of a list.
"""

from __future__ import annotations

from typing import Annotated, Final, TypedDict

import msgspec

from collector.parse.json_fields import JsonObject

Number = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""Only what every JSON library reads alike."""


class _Owner(TypedDict, total=False):
    controller: bool | None
    kind: str | None
    name: str | None
    uid: str | None


# The keys of collector.parse.kubernetes.POD_GROUP_ANNOTATIONS; others are passed over.
_Annotations = TypedDict(
    "_Annotations",
    {
        "scheduling.k8s.io/group-name": str | None,
        "scheduling.volcano.sh/group-name": str | None,
        "pod-group-name": str | None,
    },
    total=False,
)


class _Metadata(TypedDict, total=False):
    uid: str | None
    namespace: str | None
    name: str | None
    creationTimestamp: str | None
    deletionTimestamp: str | None
    ownerReferences: list[_Owner] | None
    annotations: _Annotations | None


class _Resources(TypedDict, total=False):
    limits: dict[str, str] | None
    requests: dict[str, str] | None


class _Container(TypedDict, total=False):
    resources: _Resources | None
    restartPolicy: str | None


class _Claim(TypedDict, total=False):
    claimName: str | None


class _Volume(TypedDict, total=False):
    persistentVolumeClaim: _Claim | None


class _Spec(TypedDict, total=False):
    volumes: list[_Volume] | None
    containers: list[_Container] | None
    initContainers: list[_Container] | None
    nodeName: str | None
    priority: Number | None
    priorityClassName: str | None


class _Condition(TypedDict, total=False):
    type: str | None
    status: str | None
    reason: str | None
    message: str | None
    lastTransitionTime: str | None


class _Status(TypedDict, total=False):
    phase: str | None
    conditions: list[_Condition] | None


class _Pod(TypedDict, total=False):
    metadata: _Metadata | None
    spec: _Spec | None
    status: _Status | None


# "continue" is a word of Python's own.
_ListMetadata = TypedDict("_ListMetadata", {"resourceVersion": str | None, "continue": str | None}, total=False)


class _PodList(TypedDict, total=False):
    metadata: _ListMetadata | None
    items: list[_Pod] | None


_DECODER: Final = msgspec.json.Decoder(_PodList)


def fields_in_use(body: bytes) -> JsonObject | None:
    """The list in `body` with the fields that are looked at; None when one of them is not as it normally is.

    None says nothing about the objects: decode the body whole and look at each. Never more than this is noticed of the
    other fields: that they are in JSON's form. Bytes that are no UTF-8 pass in them.
    """
    try:
        return _DECODER.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return None
