"""Reading logs: small versions of the large logs of studies/evals_memory.py."""

import pytest

import bestofk as bk
import evals_memory


@pytest.mark.parametrize("name", evals_memory.MAKERS)
def test_every_sample_is_read(name, tmp_path):
    evals_memory.MAKERS[name](tmp_path, 2100)
    evals = bk.read_evals(tmp_path)
    assert (evals.models, len(evals), len(evals.items)) == (("a", "b"), 4200, 2100)
    # of every three items `a` misses one, of every seven `b`
    assert evals.by_item().means() == pytest.approx([2 / 3, 6 / 7])


@pytest.mark.parametrize("rows", [["a,x,1", "b,x,0"], ["b,y,1", "a,x,0", "b,x,1", "a,y,0"]])
def test_the_quick_way_through_a_long_table_says_the_same(rows, tmp_path, monkeypatch):
    """Codes that come in turn are taken as they are; others are put in order."""
    from bestofk.data.tables import arrow_files

    path = tmp_path / "long.csv"
    path.write_text("model,item,score\n" + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    slow = bk.read_evals(path)
    monkeypatch.setattr(arrow_files, "MIN_FILE_BYTES", 0)
    quick = bk.read_evals(path)
    assert quick.to_frame().equals(slow.to_frame())
