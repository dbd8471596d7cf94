"""Files and folders of logs, with the mistakes that people make."""

import gzip
import shutil
from pathlib import Path

import pytest

import bestofk as bk
from bestofk._base.errors import TableError

GOLDEN = Path(__file__).parent / "golden"


def test_a_gzip_bomb_and_a_cut_one(tmp_path):
    path = tmp_path / "x.jsonl.gz"
    line = (GOLDEN / "livebench" / "ground_truth_judgment.jsonl").read_bytes()
    path.write_bytes(gzip.compress(line + b" " * (65 << 20)))
    with pytest.raises(TableError, match="unpacks to far more"):
        bk.read_evals(path)
    path.write_bytes(gzip.compress(line)[:-20])
    with pytest.raises(TableError, match="damaged or cut off"):
        bk.read_evals(path)


def test_an_empty_folder_gets_one_sentence(tmp_path):
    with pytest.raises(TableError) as error:
        bk.read_evals(tmp_path)
    assert str(error.value) == f"The folder {str(tmp_path)!r} has no files."


def test_two_formats_in_one_folder_are_told_at_once(tmp_path):
    for name in ("livebench", "evalplus"):
        shutil.copytree(GOLDEN / name, tmp_path / name)
    (tmp_path / "README.md").write_text("hello")
    with pytest.warns(bk.BestOfKWarning, match="logs of EvalPlus and LiveBench"):
        evals = bk.read_evals(tmp_path)
    assert len(evals) == 20
    assert any("README.md" in s for s in evals.notes)


def test_a_link_to_a_log_is_read_once(tmp_path):
    path = Path(shutil.copy(GOLDEN / "livebench" / "ground_truth_judgment.jsonl", tmp_path))
    (tmp_path / "again.jsonl").symlink_to(path)
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "nowhere.jsonl").symlink_to(tmp_path / "gone")
    assert len(bk.read_evals(tmp_path)) == 8


def test_a_table_of_folds_is_sent_elsewhere(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("classifier,fold,accuracy\na,1,0.5\n")
    with pytest.raises(TableError, match="use 'bestofk scores'"):
        bk.read_evals(path)
