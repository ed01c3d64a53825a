"""YAML text as plain values: what is kept as written, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from controller.api.shown_values import printable, shortened
from controller.api.yaml_text import place_in_words, read_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("-3", -3),
        ("0.5", 0.5),
        ("1e3", 1000.0),
        ("yes", True),
        ("Off", False),
        ("~", None),
        ("'12'", "12"),
        # YAML would make something else of these; a person meant the text
        ("0x1f", "0x1f"),
        ("010", "010"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("2026-13-45", "2026-13-45"),
        ("9" * 30, "9" * 30),
        ("=", "="),
    ],
)
def test_a_plain_word_becomes_a_value_of_json_or_stays_text(text: str, value: Any) -> None:
    (document,), flaw = read_yaml(f"key: {text}")
    assert flaw is None
    assert document.value == {"key": value}
    assert type(document.value["key"]) is type(value)
    assert document.written["key",] == text


def test_keys_are_text_whatever_yaml_makes_of_them() -> None:
    (document,), _ = read_yaml("{on: 1, 2: 3, <<: 4}")
    assert document.value == {"on": 1, "2": 3, "<<": 4}


@pytest.mark.parametrize("text", ["? [a, b]\n: c", "a: !!binary eA==", "!own {a: 1}", "!!set {a, b}"])
def test_what_no_document_has_is_a_flaw(text: str) -> None:
    (document,), flaw = read_yaml(text)
    assert flaw is None
    assert len(document.flaws) == 1


def test_a_key_that_stands_twice_keeps_its_first_value_and_is_a_flaw() -> None:
    (document,), _ = read_yaml("a: 1\nb: 2\na: 3\n")
    (flaw,) = document.flaws
    assert document.value == {"a": 1, "b": 2}
    assert flaw.path == ("a",)
    assert flaw.written == "3"
    assert "line 1 and again on line 3" in flaw.expected


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "- " * 5000,
        "a: &a [*a]",
        "a0: &a0 [x, x]\n" + "".join(f"a{n + 1}: &a{n + 1} [*a{n}, *a{n}, *a{n}, *a{n}]\n" for n in range(20)),
        '"\\UFFFFFFFF"',
        "%YAML 1." + "9" * 5000 + "\n--- a",
        "\x00",
        "\ud800",
        "*unknown",
    ],
    ids=["nested", "list", "endless", "aliases", "escape", "version", "zero", "surrogate", "alias"],
)
def test_what_would_harm_a_reader_is_an_error_of_syntax(text: str) -> None:
    documents, flaw = read_yaml(text)
    assert documents == ()
    assert flaw is not None
    assert flaw.written.isprintable()


def test_a_place_reads_like_a_path() -> None:
    assert place_in_words(("spec", "pools", 0, "nodeSelector", "nvidia.com/gpu")) == (
        'spec.pools[0].nodeSelector["nvidia.com/gpu"]'
    )


def test_a_long_value_is_shown_on_one_short_line() -> None:
    assert shortened("a\n  b") == "a b"
    assert shortened("x" * 100, limit=10) == "xxxxxxxxx…"


def test_what_a_terminal_should_not_get_is_escaped() -> None:
    assert printable("\x1b[31m\ud800é") == "\\x1b[31m\\ud800é"
