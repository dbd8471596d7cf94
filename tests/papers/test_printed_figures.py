"""The transcribed tables against their own sums and the text."""

import numpy as np

from bestofk.papers.printed_figures import printed_figures, printed_table


def test_multitest_table_1_is_whole():
    means, deviations = (printed_table("multitest", "1", what) for what in ("mean", "sd"))
    assert means.values.shape == deviations.values.shape == (30, 5)
    assert len(set(means.rows)) == 30
    assert np.isfinite(means.values).all()
    assert ((means.values >= 0) & (means.values < 100)).all()
    assert ((deviations.values > 0) & (deviations.values < 10)).all()


def test_multitest_max_column_agrees_with_the_text():
    # a majority error of two classes cannot be above 50 on average but by the halves' chance
    means = printed_table("multitest", "1", "mean")
    largest = means.values[means.rows.index("optdigits"), means.columns.index("MAX")]
    assert largest == means.values.max() == 90.71


def test_multitest_table_2_percentages_do_not_exceed_100():
    figures = printed_figures("multitest")
    rows = printed_table("multitest", "1", "mean").rows
    for procedure in ("TestFirst", "Newman-Keuls", "MultiTest"):
        for row in rows:
            first, second = (
                [
                    int(f.printed)
                    for f in figures
                    if (f.table, f.row, f.column, f.quantity)
                    == ("2", row, f"{procedure} ({rank})", "percent")
                ]
                for rank in (1, 2)
            )
            assert len(first) == 1
            assert first[0] >= (second[0] if second else 0)
            # one unit for rounding, more where a third is selected too
            assert first[0] + sum(second) <= 101
            if not second:
                assert first[0] >= 99


def test_multitest_table_3_sums_and_percentages():
    counts = printed_table("multitest", "3", "count")
    percent = printed_table("multitest", "3", "percent")
    assert counts.values.sum(axis=1).tolist() == [30_000] * 4
    np.testing.assert_allclose(counts.values / 300, percent.values, atol=0.0051)
