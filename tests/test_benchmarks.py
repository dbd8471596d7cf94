"""Benchmarks run on small input; their timings are no tests."""

import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def test_growth_runs_the_commands(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import growth

    rows = dict.fromkeys(["evals", *growth.LARGE], (2000,))
    monkeypatch.setattr(growth, "SIZES", dict.fromkeys(growth.SIZES, (4,)) | rows)
    monkeypatch.setattr(growth, "DATASETS", 5)
    parts = ["units", "evals", "large-graded-random"]
    assert list(growth.measure(parts)) == []
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if not line.startswith(" ")] == parts
    assert out.count("MiB") == len(parts)
    sys.modules.pop("growth")


def test_growth_writes_each_answer_once_in_every_order(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import pyarrow.parquet as pq

    import growth

    expected = {(f"m{k}", item) for k in range(growth.MODELS) for item in range(20)}
    orders = {}
    for name, options in growth.LARGE.items():
        growth.write_numbered(tmp_path / name, 2000, **options)
        table = pq.read_table(tmp_path / name)
        items = [int(str(item).removeprefix("q-")) for item in table["item"].to_pylist()]
        rows = list(zip(table["model"].to_pylist(), items, strict=True))
        assert len(rows) == 2000
        assert set(rows) == expected
        orders[name] = rows
    assert (
        orders["large"]
        == orders["large-names"]
        == sorted(orders["large-random"], key=lambda row: (int(row[0][1:]), row[1]))
    )
    assert orders["large-by-item"] == sorted(
        orders["large"], key=lambda row: (row[1], int(row[0][1:]))
    )
    sys.modules.pop("growth")


def test_growth_compares_each_step_with_the_one_before(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import growth

    steps = {
        1: growth.Step(1.0, 100.0, 10.0, 10.0),
        2: growth.Step(1.1, 100.0, 20.0, 20.0),
        3: growth.Step(4.0, 400.0, 40.0, 40.0),
    }
    monkeypatch.setattr(growth, "SIZES", {"learners": (1, 2, 3)})
    monkeypatch.setitem(growth.STEPS, "learners", lambda _, size: steps[size])
    rows = list(growth.measure(["learners"]))
    assert [row[0] for row in rows] == ["learners-3", "learners-3 MiB"]
    assert [round(row[1], 3) for row in rows] == [0.55, 0.5]
    sys.modules.pop("growth")


def test_evals_speed_compares_the_commands_with_pandas(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import evals_speed

    monkeypatch.setattr(evals_speed, "ITEMS", 30)
    monkeypatch.setattr(evals_speed, "REPEATS", 1)
    rows = list(evals_speed.commands(models=3))
    assert [row[0] for row in rows] == ["evals-text", "evals-json", "evals-report"]
    assert capsys.readouterr().out.count("MiB") == 3
    sys.modules.pop("evals_speed")
    sys.modules.pop("growth")
