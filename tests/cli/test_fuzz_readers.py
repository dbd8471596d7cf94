"""A small form of studies/fuzz_readers.py, and the cases that it found."""

import contextlib
import json
import zipfile
from pathlib import Path

import pytest

import bestofk as bk
import fuzz_readers
from bestofk._base.errors import ArgumentError, BestOfKError, TableError


def reads_or_refuses(read, path: Path) -> bool:
    """Return whether a file is read or refused; any other error is raised."""
    with contextlib.suppress(BestOfKError):
        read(path)
    return True


@pytest.mark.parametrize("start", range(0, 200, 50))
def test_damaged_files(start: int, tmp_path: Path) -> None:
    for case in range(start, start + 50):
        folder = tmp_path / str(case)
        folder.mkdir()
        fuzz_readers.check_case(20261117, case, folder)


def test_half_of_a_surrogate_pair_in_a_cell(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"learner": "a\\ud800", "error": 0.1}\n{"learner": "b", "error": 0.2}\n')
    with pytest.raises(TableError, match="contains half of a surrogate pair"):
        bk.read_scores(path)
    with pytest.raises(TableError, match="contains half of a surrogate pair"):
        bk.read_data(path)


def test_half_of_a_surrogate_pair_in_a_label() -> None:
    with pytest.raises(ArgumentError, match=r"the label 'a\\udc00' contains half of a surrogate"):
        bk.compare(["max", "nmc"], [[0.0], [1.0]] * 10, ["a\udc00", "b"] * 10, cv="2x2")


def test_a_whole_number_that_no_float_can_represent(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [{"a": 2**62 + 1, "b": 2}, {"a": 3, "b": 4}, {"a": 5, "b": 7}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    losses = bk.read_scores(path, higher_is_better=False, design="cv")
    assert losses.losses.max() == float(2**62 + 1)  # rounded, as Python rounds


@pytest.mark.parametrize("name", ["log.eval", "table.xlsx"])
def test_a_zip_archive_of_an_unknown_version(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("xl/workbook.xml", "<a/>")
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02")
    data[at + 6] = 99  # the version needed to extract, in the table of contents
    path.write_bytes(data)
    for read in (bk.read_evals, bk.read_scores, bk.read_data):
        with pytest.raises(BestOfKError):
            read(path)


def test_a_status_of_livebench_that_is_a_list(tmp_path: Path) -> None:
    golden = Path(__file__).parents[1] / "evals" / "golden" / "livebench"
    source = (golden / "ground_truth_judgment.jsonl").read_text().splitlines()
    rows = [{**json.loads(line), "eval_status": [1]} for line in source]
    path = tmp_path / "ground_truth_judgment.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert reads_or_refuses(bk.read_evals, path)
