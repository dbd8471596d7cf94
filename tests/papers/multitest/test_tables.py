import numpy as np
import pytest
from scipy.stats import t

from bestofk.papers.multitest.tables import (
    Decisions,
    figure_facts,
    most_selected,
    table_1,
    table_2,
    table_3,
)
from bestofk.papers.printed_figures import printed_table

SETS = ("iris", "vote")


def by_means(means, shape):
    """Losses of learners that all differ."""
    folds = np.array(means)[:, None, None] + 0.001 * np.arange(10).reshape(5, 2)
    return np.broadcast_to(folds, (*shape, 5, 5, 2))


def decisions(multitest, *, test_first=None, edges=None):
    """Decisions of as many runs as `multitest` has columns."""
    multitest = np.array(multitest)
    none = np.full(multitest.shape, -1)
    graph = np.zeros((*multitest.shape, 5, 5), dtype=bool) if edges is None else edges
    return Decisions(
        chosen={
            "Anova": none,
            "TestFirst": none if test_first is None else np.array(test_first),
            "Newman-Keuls": np.full(multitest.shape, 2),
            "MultiTest": multitest,
        },
        edges=graph,
        losses=by_means([5, 4, 2, 3, 1], multitest.shape),
        alpha=0.05,
    )


def test_table_1_by_hand():
    losses = np.zeros((2, 3, 5, 5, 2))
    losses[0, :, 0] = 0.7
    losses[0, :, 1, :, 0], losses[0, :, 1, :, 1] = 0.1, 0.3
    mean, deviation = table_1(losses, SETS)
    assert mean.ours[0, :2].tolist() == pytest.approx([70.0, 20.0])
    assert mean.printed[0].tolist() == [70.68, 13.59, 4.14, 6.29, 6.51]
    # thirty errors of 20 +- 10 percent
    assert deviation.ours[0, 1] == pytest.approx(10.0 * np.sqrt(30 / 29))
    assert deviation.printed[1, 4] == 1.59


def test_table_1_has_t_limits():
    rng = np.random.default_rng(0)
    losses = 0.2 + 0.05 * rng.normal(size=(2, 40, 5, 5, 2))
    mean, _ = table_1(losses, SETS)
    runs = 100 * losses[1, :, 3].mean(axis=(1, 2))
    # t(39) at 1 - 0.0027 / 2 is 3.200; one unit of the last digit
    expected = t.isf(0.00135, 39) * runs.std(ddof=1) * np.sqrt(1 / 40 + 1 / 1000) + 0.01
    assert mean.high[1, 3] - mean.printed[1, 3] == pytest.approx(expected)


def test_table_2_names_shares_and_the_rule_for_close_calls():
    # printed for MultiTest: iris NMC (88) LGC (12), vote NMC (53) LGC (47)
    texts, percent = table_2(decisions([[1, 1, 1, 2], [2, 2, 2, 1]]), SETS)
    assert texts.ours[:, 4].tolist() == ["NMC (75)", "LGC (75)"]
    assert texts.printed[:, 4].tolist() == ["NMC (88)", "NMC (53)"]
    # four runs cannot tell 53 from 47
    assert texts.compared[:, 4].tolist() == [False, False]
    assert percent.ours[1, 4:].tolist() == [25.0, 75.0]
    # 1,000 runs tell 88 from 12, but not 53 from 47 with 99 % probability
    many = decisions([[2] * 1000, [2] * 1000])
    assert table_2(many, SETS)[0].compared[:, 4].tolist() == [True, False]
    assert not table_2(many, SETS)[0].within[:, 4].any()
    right = decisions([[1] * 1000, [1] * 1000])
    assert table_2(right, SETS)[0].within[:, 4].tolist() == [True, False]
    assert most_selected(many, SETS) == {
        "TestFirst": ["iris", "vote"],
        "Newman-Keuls": ["iris", "vote"],
        "MultiTest": [],
    }


def test_table_3_counts_what_was_not_found_first():
    table = table_3(decisions([[0, 0, 1, 2], [2, 2, 2, 4]]), 2)
    assert table.rows == ("Anova", "TestFirst", "Newman-Keuls", "MultiTest")
    assert table.ours[0].tolist() == [100, 0, 0, 0, 0, 0]
    assert table.ours[3].tolist() == [0, 25, 12.5, 50, 0, 12.5]
    assert (table.printed[3] == printed_table("multitest", "3", "percent").values[3]).all()


def test_figure_4_as_printed():
    edges = np.zeros((1, 3, 5, 5), dtype=bool)
    edges[..., [0, 0, 0, 0, 1, 1, 1, 2, 3], [1, 2, 3, 4, 2, 3, 4, 4, 4]] = True
    edges[0, 2, 0, 1] = False
    table = figure_facts(
        "fig4", "pendigits", decisions([[4, 4, 4]], test_first=[[4, 4, -1]], edges=edges), 0
    )
    # two of three runs are not clearly most runs
    assert table.compared.tolist() == [[False] * 6]
    same = decisions([[4] * 9], test_first=[[4] * 9], edges=np.repeat(edges[:, :1], 9, axis=1))
    assert figure_facts("fig4", "pendigits", same, 0).within.all()
    assert "67 percent of the runs, 2 graphs in all" in table.note
