"""Plain random splits: not stratified by class, and copies of rows on both sides."""

import numpy as np
import pandas as pd
import pytest

import bestofk as bk
from bestofk.report.provenance import repeat_of
from bestofk.report.subject import subject_of

ROWS = pd.DataFrame({"x": np.repeat(np.arange(30.0) ** 1.5, 2), "y": ["a"] * 40 + ["b"] * 20})
"""Every row twice; 40 of class a, so that a stratified half has 20 of them."""


def split(**options):
    """Return the first half of each run, the notes, and the call that repeats the study."""
    execution = bk.Execution(engine="serial", progress=False, **options)
    result = bk.compare(["max", "nmc"], ROWS, "y", cv="5x2", execution=execution)
    call = repeat_of(subject_of(result)).text
    (splits,) = result.outcome.live.splits
    return [splits.test(run, 0) for run in range(5)], " ".join(result.notes), call


def test_halves_are_stratified_and_keep_copies_together_unless_told_otherwise():
    plain, notes, repeated = split(stratify=False, duplicates="split")
    usual, usual_notes, usual_repeated = split()
    assert {int((ROWS.y[half] == "a").sum()) for half in usual} == {20}
    assert len({int((ROWS.y[half] == "a").sum()) for half in plain}) > 1
    divided = [len(set(half // 2)) > len(half) / 2 for half in (*usual, *plain)]
    assert divided == [False] * 5 + [True] * 5
    assert "not stratified by class" in notes
    assert "bk.Execution(stratify=False, duplicates='split')" in repeated
    assert "Execution" not in usual_repeated
    assert "they are split like other rows" in notes
    assert "stratified" not in usual_notes
    assert "copies stay in one fold" in usual_notes


def test_own_splits_are_not_changed():
    halves = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]
    execution = bk.Execution(engine="serial", progress=False, stratify=False)
    with pytest.raises(bk.BestOfKError, match="stratify does not apply to your own splits"):
        bk.compare(["max", "nmc"], ROWS, "y", cv=halves, execution=execution)
    with pytest.raises(bk.BestOfKError, match="duplicates must be one of"):
        bk.Execution(duplicates="apart")
