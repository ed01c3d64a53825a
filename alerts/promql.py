"""Checks a PromQL expression against the catalogue: names, labels, joins that can match. Needs promql-parser. Pure.

It follows the labels of every part of the expression, so that a grouping or join on a label that is no longer there
is found, and so is one that would mix clusters, where equal names of tenants and namespaces exist.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import promql_parser as promql

from collector.catalogue.index import find
from collector.catalogue.metric import TARGET_LABELS, Metric, Source

Labels: TypeAlias = frozenset[str] | None
"""The labels of a vector; None for a scalar or a string."""

_CLUSTER: Final = "cluster"
_SET_OPERATORS: Final = frozenset({"and", "or", "unless"})
_KEEP_LABELS: Final = frozenset({"topk", "bottomk", "limitk", "limit_ratio"})
_NO_LABELS: Final = frozenset({"vector"})
_ABSENT: Final = frozenset({"absent", "absent_over_time"})


def problems(expr: str) -> tuple[str, ...]:
    """What is wrong with `expr`, in words; empty when all names and labels exist and every join can match."""
    return _checked(expr)[1]


def output_labels(expr: str) -> Labels:
    """The labels of the series that a sound `expr` gives. Raises ValueError with the problems of another."""
    labels, found = _checked(expr)
    if found:
        raise ValueError("; ".join(found))
    return labels


def _checked(expr: str) -> tuple[Labels, tuple[str, ...]]:
    try:
        tree = promql.parse(expr)
    except ValueError as error:
        return None, (f"not PromQL: {error}",)
    checker = _Checker()
    return checker.labels(tree), tuple(checker.found)


def _labels_of(metric: Metric) -> frozenset[str]:
    own = frozenset(metric.labels)
    return own if metric.source is Source.RECORDED else own | TARGET_LABELS


class _Checker:
    """Walks one expression; `found` gathers what is wrong."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def labels(self, node: promql.Expr) -> Labels:
        match node:
            case promql.VectorSelector():
                return self._selector(node)
            case promql.MatrixSelector():
                return self._selector(node.vector_selector)
            case promql.ParenExpr() | promql.UnaryExpr() | promql.SubqueryExpr():
                return self.labels(node.expr)
            case promql.AggregateExpr():
                return self._aggregate(node)
            case promql.BinaryExpr():
                return self._binary(node)
            case promql.Call():
                return self._call(node)
        return None

    def _selector(self, node: promql.VectorSelector) -> Labels:
        metric = find(node.name) if node.name else None
        if metric is None:
            self.found.append(f"{node}: the catalogue has no such metric")
            return frozenset()
        known = _labels_of(metric)
        matchers = [*node.matchers.matchers, *(one for group in node.matchers.or_matchers for one in group)]
        self._expect({matcher.name for matcher in matchers}, known, str(node.name))
        return known

    def _expect(self, wanted: set[str], known: frozenset[str], where: str) -> None:
        self.found += [f"{where}: has no label {name}" for name in sorted(wanted - known)]

    def _aggregate(self, node: promql.AggregateExpr) -> Labels:
        inner = self.labels(node.expr) or frozenset()
        operator, modifier = str(node.op), node.modifier
        if modifier is None:
            kept = inner if operator in _KEEP_LABELS else frozenset()
        else:
            named = frozenset(modifier.labels)
            self._expect(set(named), inner, f"{operator} (…)")
            kept = named if modifier.type == promql.AggModifierType.By else inner - named
        if _CLUSTER in inner - kept:
            self.found.append(f"{operator} (…): mixes clusters")
        return inner if operator in _KEEP_LABELS else kept

    def _call(self, node: promql.Call) -> Labels:
        arguments = [self.labels(argument) for argument in node.args]
        name = node.func.name
        if node.func.return_type == promql.ValueType.Scalar or name in _NO_LABELS | _ABSENT:
            return frozenset() if name in _NO_LABELS | _ABSENT else None
        vectors = [labels for labels in arguments if labels is not None]
        kept = vectors[0] if vectors else frozenset()
        if name in ("label_replace", "label_join"):
            return kept | {node.args[1].val}
        return kept - {"le"} if name == "histogram_quantile" else kept

    def _binary(self, node: promql.BinaryExpr) -> Labels:
        left, right = self.labels(node.lhs), self.labels(node.rhs)
        if left is None or right is None:
            return right if left is None else left
        operator, modifier = str(node.op), node.modifier
        matching = modifier.matching if modifier else None
        if matching is None:
            self._expect_equal(left, right, operator)
            return left
        named = frozenset(matching.labels)
        if matching.type == promql.LabelModifierType.Exclude:
            self._expect_equal(left - named, right - named, operator)
            shared = left - named
        else:
            self._expect_join(named, left, right, operator)
            shared = named
        if operator in _SET_OPERATORS or modifier is None:
            return left
        return self._joined(modifier, left, right, shared)

    def _joined(
        self, modifier: promql.BinModifier, left: frozenset[str], right: frozenset[str], shared: frozenset[str]
    ) -> Labels:
        taken = frozenset(modifier.group_labels or ())
        if modifier.card == promql.VectorMatchCardinality.ManyToOne:
            self._expect(set(taken), right, "group_left")
            return left | taken
        if modifier.card == promql.VectorMatchCardinality.OneToMany:
            self._expect(set(taken), left, "group_right")
            return right | taken
        return shared

    def _expect_join(self, named: frozenset[str], left: frozenset[str], right: frozenset[str], operator: str) -> None:
        self._expect(set(named), left, f"left of {operator} on (…)")
        self._expect(set(named), right, f"right of {operator} on (…)")
        if _CLUSTER in (left & right) - named:
            self.found.append(f"{operator} on (…): mixes clusters")

    def _expect_equal(self, left: frozenset[str], right: frozenset[str], operator: str) -> None:
        if left != right and operator != "or":
            self.found.append(
                f"{operator}: never matches, labels {', '.join(sorted(left ^ right))} stand on one side only"
            )
