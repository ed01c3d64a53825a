"""What an option may be is judged before its verb begins: exit code 2, the option, the value, what was expected."""

from __future__ import annotations

import re
import socket
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from controller.api.errors import InputError
from controller.cli.main import VERBS, run
from controller.cli.values import cluster_for, duration_for, namespace_for, path_for, time_scale_for, words_for
from controller.cli.verb import Verb

EXAMPLES = str(Path(__file__).resolve().parents[4] / "deploy" / "examples")
SCALED = (["plan"], ["run", "janitor"], ["run", "controller"], ["run", "collector"], ["render", "rules"], ["demo"])
NAMED = (
    ["plan"],
    ["run", "janitor"],
    ["run", "controller"],
    ["render", "rbac"],
    ["status"],
    ["pause", "--reason=x"],
    ["resume"],
    ["revert", "--all"],
    ["report", "weekly", "--prometheus-url=http://127.0.0.1:9"],
)
FILES = (
    ["look", "--kubeconfig"],
    ["look", "--config"],
    ["look", "--yaml-out"],
    ["plan", "--config"],
    ["revert", "--all", "--baseline"],
    ["run", "controller", f"--config={EXAMPLES}", "--webhook-token-file"],
    ["run", "collector", f"--config={EXAMPLES}", "--rdma-probes"],
    ["report", "weekly", "--prometheus-url=http://127.0.0.1:9", "--out"],
    ["demo", "--trace"],
    ["validate"],
)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What is said about a command line that is bad input."""
    assert run(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err
    return said.err


def with_documents(verb: list[str]) -> list[str]:
    needs = verb[0] in ("plan", "run", "render")
    return [*verb, f"--config={EXAMPLES}"] if needs else verb


@pytest.mark.parametrize("scale", ["inf", "nan", "-inf", "1e300", "0", "-1", "0.5", "fast", "", "1_0", "\u0665"])
@pytest.mark.parametrize("verb", SCALED, ids=" ".join)
def test_a_time_scale_is_a_number_within_bounds(
    verb: list[str], scale: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, *with_documents(verb), f"--time-scale={scale}")
    assert re.search(r"--time-scale: got .*, expected a number from 1 to (3600|600)$", said.strip())


@pytest.mark.parametrize("name", ["../../x", "a/b", "A", "", ".", "-a", "a" * 64, "x?y", "kube system"])
@pytest.mark.parametrize("verb", NAMED, ids=" ".join)
def test_a_namespace_is_one_that_kubernetes_can_have(
    verb: list[str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, *with_documents(verb), f"--namespace={name}")
    assert said.startswith("--namespace: got ")
    assert "expected the name of a namespace" in said


@pytest.mark.parametrize("arguments", FILES, ids=" ".join)
def test_an_empty_name_of_a_file_is_not_the_current_folder(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert "got nothing, expected the name of a file or folder" in refused(capsys, *arguments, "")


@pytest.mark.parametrize("address", ["prometheus", "http://a b", "ftp://x", "http://", "http://x:99999", ""])
@pytest.mark.parametrize("verb", [["plan"], ["run", "controller"], ["run", "collector"], ["look"]], ids=" ".join)
def test_an_address_is_judged_before_anybody_is_asked(
    verb: list[str], address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, *with_documents(verb), f"--prometheus-url={address}")
    assert "expected an address such as http://prometheus:9090" in said


@pytest.mark.parametrize("time", ["9" * 30 + "w", "99999w", "0s", "-5s", "soon", "\u0665m", ""])
def test_a_demo_lasts_a_time_that_somebody_can_wait_for(time: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "expected a duration from 1s to 7d, such as 120s or 5m" in refused(capsys, "demo", f"--for={time}")


def test_a_change_without_a_name_is_not_every_change(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, "revert", "").startswith("CHANGE: got nothing")
    assert refused(capsys, "revert", "--tenant=").startswith("--tenant: got nothing")


@pytest.mark.parametrize("name", ['a"b', "East", "", "a..b", "a" * 254, "x\ny"])
def test_a_cluster_has_a_name_that_is_safe_in_queries(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "render", "rules", f"--config={EXAMPLES}", f"--cluster={name}")
    assert said.startswith("--cluster: got ")


def test_good_values_are_taken_as_they_are() -> None:
    assert path_for("--config")("tenants/") == Path("tenants")
    assert namespace_for("-n")("trimtab-system") == "trimtab-system"
    assert cluster_for("--cluster")("east-1.example") == "east-1.example"
    assert words_for("NAME", "a name")("vision") == "vision"
    assert [time_scale_for("--time-scale")(one) for one in ("1", "1.5", "6e1", 3600.0)] == [1.0, 1.5, 60.0, 3600.0]
    assert duration_for("--for", 1, 90, "a while")("1m30s") == 90.0


def test_the_default_of_an_option_is_judged_like_any_value() -> None:
    with pytest.raises(InputError, match="a number from 1 to 600"):
        time_scale_for("--time-scale", 600)(601.0)


@pytest.mark.parametrize("verb", [["run", "controller"], ["run", "collector"], ["demo"]], ids=" ".join)
def test_an_address_that_is_taken_is_said_before_anything_starts(
    verb: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        said = refused(capsys, *with_documents(verb), f"--listen={address}")
    assert said == f"--listen: got {address}, expected an address to listen on: something listens there already\n"


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("nowhere", "host:port"),
        ("127.0.0.1:65536", "host:port"),
        ("127.0.0.1:\u0668\u0660", "host:port"),
        ("203.0.113.7:9108", "this machine has no such address"),
        ("a..b:9108", "no machine is known as a..b"),
    ],
)
def test_an_address_that_nobody_can_listen_on_is_said(
    address: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert why in refused(capsys, "demo", f"--listen={address}")


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.words)
def test_every_option_that_names_a_file_a_namespace_a_cluster_or_a_scale_is_judged(verb: Verb) -> None:
    hints = get_type_hints(verb.load(), include_extras=True)
    judged = {"namespace", "cluster", "time_scale", "prometheus_url"}
    unjudged = [
        name
        for name, hint in hints.items()
        if "Path" in str(get_args(hint)[:1]) or name in judged
        for info in get_args(hint)[1:]
        if info.parser is None and not info.hidden
    ]
    assert unjudged == []
