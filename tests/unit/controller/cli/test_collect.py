"""The verb `collect`: exit codes, JSON that adds up, a table for people, and words for what can not be reached."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from controller.cli.main import run
from tests.testbed.fake_rdma_sysfs import FakeRdmaSysfs
from tests.unit.collector.parse.vendor_texts import CAMBRICON, DCGM_3, HAMI


@pytest.fixture
def dcgm(tmp_path: Path) -> Path:
    file = tmp_path / "metrics.txt"
    file.write_text(DCGM_3, encoding="utf-8")
    return file


def collected(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(["collect", *arguments, "-o", "json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_json_tells_every_reading_and_where_every_sample_went(dcgm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = collected(capsys, "--from", str(dcgm))
    samples = answer["samples"]
    assert samples["read"] == samples["used"] + samples["passed"] + sum(samples["dropped"].values())
    assert samples["dropped"] == {"blank value": 1, "names no device": 1, "truncated line": 1}
    assert {tuple(reading) for reading in answer["readings"]} == {
        ("name", "value", "unknown", "unit", "labels", "time", "source")
    }
    power = next(one for one in answer["readings"] if one["name"] == "trimtab_accelerator_power_watts")
    assert (power["value"], power["unknown"]) == (None, "blank value (DCGM_FI_DEV_POWER_USAGE)")
    assert answer["sources"] == ["dcgm"]


def test_a_shared_device_is_summed_per_namespace_with_bounds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hami.txt"
    file.write_text(HAMI, encoding="utf-8")
    sums = {
        one["namespace"]: (one["value"], one["lowest"], one["highest"])
        for one in collected(capsys, "--from", str(file), "--as", "hami")["sums"]
        if one["name"] == "trimtab_accelerator_memory_used_bytes"
    }
    assert sums == {"lab": (15000.0, 15000.0, 15000.0), "vision": (10000.0, 10000.0, 10000.0)}


def test_a_folder_of_ports_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    FakeRdmaSysfs(tmp_path).add_device().add("port_xmit_data", 10)
    answer = collected(capsys, "--from", str(tmp_path), "--as", "sysfs", "--node", "n1")
    sent = next(one for one in answer["readings"] if one["name"] == "trimtab_rdma_port_transmitted_bytes_total")
    assert (sent["value"], sent["labels"]["node"]) == (40.0, "n1")


def test_a_metric_that_a_site_has_renamed_is_read_when_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mlu.txt"
    file.write_text(CAMBRICON, encoding="utf-8")
    answer = collected(capsys, "--from", str(file), "--rename", "mlu_watts_of_board=mlu_power_usage")
    assert 150.0 in [one["value"] for one in answer["readings"]]
    assert run(["collect", "--from", str(file), "--rename", "nonsense"]) == 2


def test_the_table_shows_values_reasons_and_the_count(dcgm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["collect", "--from", str(dcgm)]) == 0
    said = capsys.readouterr()
    assert "accelerator_active_ratio" in said.out
    assert "from counters it takes two readings" in said.out
    assert "samples: 12 read, 8 used, 1 passed on" in said.err
    assert "1 dropped: blank value" in said.err


@pytest.mark.parametrize(("text", "code"), [("", 2), ("no metrics here\n", 2), ("up 1\n", 0), ("up 1\nbroken {\n", 0)])
def test_bad_parts_are_no_failure_but_nothing_at_all_is(text: str, code: int, tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_text(text, encoding="utf-8")
    assert run(["collect", "--from", str(file)]) == code


def test_bytes_that_are_no_text_end_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "binary"
    file.write_bytes(bytes(range(256)))
    assert run(["collect", "--from", str(file), "-o", "json"]) == 2
    assert "nothing in it could be read" in capsys.readouterr().err


def test_a_source_that_is_not_there_is_out_of_reach(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["collect", "--from", str(tmp_path / "gone")]) == 3
    assert "there is no such file or folder" in capsys.readouterr().err
    assert run(["collect", "--from", "http://127.0.0.1:1/metrics"]) == 3
    said = capsys.readouterr().err
    assert said == "127.0.0.1:1: no answer: nobody listens there, or the connection broke before one\n"


def test_a_folder_is_no_text_and_a_text_no_folder(dcgm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["collect", "--from", str(dcgm.parent), "--as", "dcgm"]) == 2
    assert run(["collect", "--from", str(dcgm), "--as", "sysfs"]) == 2
    assert "a folder such as /sys/class/infiniband" in capsys.readouterr().err


@pytest.mark.parametrize("again", ["soon", "1s"])
def test_looking_again_takes_an_address_and_a_duration(again: str, dcgm: Path) -> None:
    assert run(["collect", "--from", str(dcgm), "--again", again]) == 2


def test_scripts_get_one_object_when_the_source_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["collect", "--from", str(tmp_path / "none"), "-o", "json"]) == 3
    answer = json.loads(capsys.readouterr().out)
    assert (answer["exit_code"], answer["schema_version"]) == (3, 1)
    assert "there is no such file or folder" in answer["error"]


def test_a_pipe_and_a_device_are_refused_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    for source in ("/dev/zero", str(tmp_path / "pipe"), ""):
        assert run(["collect", "--from", source]) == 2
        assert capsys.readouterr().err.startswith("--from: got ")


def test_nobody_waits_for_years_between_two_looks(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["collect", "--from", "http://127.0.0.1:9/metrics", "--again", "99999w"]) == 2
    assert "--again: got 99999w, expected a duration up to 1h" in capsys.readouterr().err
